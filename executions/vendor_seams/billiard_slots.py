"""The slot of a prefork pool in which this process runs.

Relies on: `billiard.current_process().index`, which a pool sets on each child, and gives again to
the child that replaces one that ended (billiard 4.2, 4.3).
No public way: Celery tells a child nothing of its place in the pool.
If it breaks: children fail when they start, or counters fall back to zero with each new child.
"""

from billiard import current_process


def slot() -> int:
    """The place of this child in its pool, counted from 0."""
    found: int = current_process().index  # type: ignore[attr-defined]
    return found
