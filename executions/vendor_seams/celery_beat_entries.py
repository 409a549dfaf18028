"""The entries of beat that were sent but not yet saved.

Relies on: `DatabaseScheduler._dirty`, the names of those entries (django-celery-beat 2.5 to 2.9).
No public way: the scheduler only reports how many tasks it sent.
If it breaks: beat stops with an AttributeError, and its supervisor reports it.
"""

from typing import Any


def unsaved(scheduler: Any) -> set[str]:
    """Return the names of a beat scheduler's entries that were sent but not yet saved."""
    found: set[str] = scheduler._dirty
    return found
