"""The parts behind `executions.definition.templates`: splitting, sandbox, limits, direct paths.

Pure: what a template yields depends on its text and its scope alone, so a replay renders the same.
"""
