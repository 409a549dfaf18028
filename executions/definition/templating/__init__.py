"""The parts behind `executions.definition.templates`: splitting, sandbox, limits, direct paths.

A template's result depends only on its text and its scope, so a replay renders the same result.
"""
