"""Which of beat's entries were sent since they were last written down.

Relies on: `DatabaseScheduler._dirty`, the names of those entries (django-celery-beat 2.5 to 2.9).
No public way: the scheduler says only how many tasks it sent.
If it breaks: beat stops with an AttributeError, and its supervisor reports it.
"""

from typing import Any


def unsaved(scheduler: Any) -> set[str]:
    """The names of entries that were sent and not yet written down."""
    found: set[str] = scheduler._dirty
    return found
