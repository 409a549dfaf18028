"""The parts behind `executions.definition.templates`: splitting, sandbox, limits, direct paths.

Pure: a template's result depends on its text and its scope alone, so a replay renders the same.
"""
