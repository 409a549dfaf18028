"""The parts of `executions.definition.templates`: splitting, the sandbox, limits, and plain paths.

A template's result depends only on its text and its scope, so a replay renders the same result.
"""
