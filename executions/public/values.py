"""Bound the values that steps handle; pure, without a database."""

from executions import payloads

__all__ = [
    "payloads",
]
