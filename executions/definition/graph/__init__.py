"""Workflow definitions as pure functions: parse, validate, resolve, compile, plan."""
