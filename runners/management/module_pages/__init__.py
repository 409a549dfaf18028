"""The pages of all modules, docs/modules.md and docs/modules/, from what they say of themselves."""
