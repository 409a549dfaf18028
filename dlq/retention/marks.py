"""Where a walk goes on the next time; whoever dies leaves the mark where it was."""

from dlq.models import RetentionMark
from dlq.retention.families import PruningPosition


def read(name: str) -> PruningPosition:
    """The beginning, where there is no mark."""
    found = RetentionMark.objects.filter(pk=name).first()
    return PruningPosition(found.at, found.row) if found else PruningPosition()


def write(name: str, position: PruningPosition | None) -> None:
    """None: the next walk begins anew."""
    if position is None:
        RetentionMark.objects.filter(pk=name).delete()
        return
    values = {"at": position.at, "row": position.id}
    RetentionMark.objects.update_or_create(name=name, defaults=values)
