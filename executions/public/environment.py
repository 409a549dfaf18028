"""Read variables of the environment that are no settings of Valkyr, such as OpenTelemetry's."""

from executions.configuration.environment import flag, number, text, words

__all__ = [
    "flag",
    "number",
    "text",
    "words",
]
