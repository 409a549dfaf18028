"""Read variables of the environment that are no settings of Valkyr, such as OpenTelemetry's."""

from executions.environment import flag, number, text, words

__all__ = [
    "flag",
    "number",
    "text",
    "words",
]
