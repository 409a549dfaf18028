"""Labels of executions, as people write them: `name:value`."""

from executions.labels.naming import BadLabel, parsed

__all__ = [
    "BadLabel",
    "parsed",
]
