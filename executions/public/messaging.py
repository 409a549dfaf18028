"""Declare and send tasks."""

from executions.messaging import (
    CONTROL,
    at_broker,
    broker_priority,
    celery_app,
    is_ours,
    send,
    task,
)

__all__ = [
    "CONTROL",
    "at_broker",
    "broker_priority",
    "celery_app",
    "is_ours",
    "send",
    "task",
]
