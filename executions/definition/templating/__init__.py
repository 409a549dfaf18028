"""The parts of `executions.definition.templates`: expressions, sandbox, limits, and plain paths.

A template's result depends only on its text and its scope, so a replay renders the same result.
"""
