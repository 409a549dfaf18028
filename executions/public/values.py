"""Convert step values to JSON, within limits and without a database."""

from executions import payloads

__all__ = [
    "payloads",
]
