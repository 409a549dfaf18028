"""The group of a failure, made when it is the first of its kind; in the failure's transaction."""

from dataclasses import dataclass
from uuid import UUID

from uuid6 import uuid7

from dlq.fingerprint import RULE
from dlq.models import FailureGroup, GroupFingerprint, GroupNews


@dataclass(frozen=True, slots=True)
class Failing:
    """What the group of a failure is told of it."""

    workspace_id: UUID
    workflow_id: UUID
    fingerprint: str
    place: str
    module: str
    exception: str
    message: str  # normalised
    sample: str
    version_number: int


def group_of(failing: Failing) -> UUID:
    """The id of the failure's group. One query where the fingerprint is known.

    Of two transactions that meet a new fingerprint at once, one waits for the other.
    """
    return _known(failing) or _make(failing)


def note_news(group_id: UUID, *, version_number: int = 0, seen: int = 0, opened: int = 0) -> None:
    """Leave word for the counters: so many more seen, so many more (or fewer) open."""
    GroupNews.objects.create(
        group_id=group_id, version_number=version_number, seen=seen, open=opened
    )


def _known(failing: Failing) -> UUID | None:
    return (
        GroupFingerprint.objects.filter(
            workspace_id=failing.workspace_id, fingerprint=failing.fingerprint
        )
        .values_list("group_id", flat=True)
        .first()
    )


def _make(failing: Failing) -> UUID:
    group = FailureGroup.objects.create(
        pk=uuid7(),
        workspace_id=failing.workspace_id,
        workflow_id=failing.workflow_id,
        rule=RULE,
        place=failing.place,
        module=failing.module,
        exception=failing.exception[:200],
        message=failing.message,
        sample=failing.sample[:2_000],
    )
    GroupFingerprint.objects.bulk_create(
        [
            GroupFingerprint(
                workspace_id=failing.workspace_id, fingerprint=failing.fingerprint, group=group
            )
        ],
        ignore_conflicts=True,
    )
    found = _known(failing)
    assert found is not None, "the row was inserted, by us or by whom we waited for"
    if found != group.pk:
        group.delete()
    return found
