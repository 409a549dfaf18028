"""The definition of a workflow, as pure functions: parse, validate, resolve, compile, plan."""
