"""Pure functions on workflow definitions: parse, validate, resolve, compile and plan."""
