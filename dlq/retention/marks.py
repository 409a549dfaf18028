"""Where a walk goes on the next time; whoever dies leaves the mark where it was."""

from dlq.models import RetentionMark
from dlq.retention.families import Position


def read(name: str) -> Position:
    """The beginning, where there is no mark."""
    found = RetentionMark.objects.filter(pk=name).first()
    return Position(found.at, found.row) if found else Position()


def write(name: str, position: Position | None) -> None:
    """None: the next walk begins anew."""
    if position is None:
        RetentionMark.objects.filter(pk=name).delete()
        return
    values = {"at": position.at, "row": position.id}
    RetentionMark.objects.update_or_create(name=name, defaults=values)
