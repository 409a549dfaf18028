"""Limit the values that steps handle, without a database."""

from executions import payloads

__all__ = [
    "payloads",
]
