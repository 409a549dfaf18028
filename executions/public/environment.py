"""Read environment variables that are not Valkyr settings, such as OpenTelemetry's."""

from executions.environment import flag, number, text, words

__all__ = [
    "flag",
    "number",
    "text",
    "words",
]
