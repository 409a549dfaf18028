"""The rules that a definition's JSON Schema cannot express, by subject; each yields problems."""
