"""When Celery tries a task of ours again: for the transport's trouble only.

Steps are retried by their rows, never here.
"""

from typing import Any

from django.db import InterfaceError, OperationalError

TRANSPORT: dict[str, Any] = {
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 1,
    "retry_backoff_max": 10,
    "max_retries": 8,
}
