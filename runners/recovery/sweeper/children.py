"""Parents and children that lost sight of each other: an end that nobody was told of."""

from runners import statements
from runners.containers import children
from runners.recovery.duties import each

BATCH = 200


def sweep() -> int:
    """Wake runs whose child has ended, cancel children nobody needs; returns how many."""
    return _ended() + _abandoned()


def _ended() -> int:
    found = statements.fetch("ended_children", {"batch": BATCH})
    return sum(each(f"ended child {child}", children.wake_parent, child) for (child,) in found)


def _abandoned() -> int:
    return sum(
        each(f"abandoned child {child}", children.cancel, child, parent)
        for child, parent in children.abandoned()[:BATCH]
    )
