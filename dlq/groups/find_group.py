"""Find the group of a failure, or create it, in the failure's transaction."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from dlq import statements
from dlq.groups.facets import label
from dlq.groups.fingerprint import RULE
from dlq.models import FailureGroup, GroupFingerprint, GroupNews
from executions.database.ids import uuid7

# Maximum number of values into which one fingerprint is split; further values share one part.
MOST_PARTS = 100
OTHERS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True, slots=True)
class Failing:
    """The data that determines a failure's group; `facets` select a part of a split group."""

    workspace_id: UUID
    workflow_id: UUID
    fingerprint: str
    place: str
    module: str
    exception: str
    message: str  # normalised
    sample: str
    version_number: int
    facets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed:
    """A failure's group, and the fingerprint that selected it: the failure's, or that of a part."""

    group_id: UUID
    fingerprint: str


def placed(failing: Failing) -> Placed:
    """Return the failure's group and fingerprint; create the group if it is new.

    Uses one query for a known fingerprint, and two more for each split. If two transactions insert
    the same new fingerprint concurrently, one waits for the other.
    """
    fingerprint, split_on, part_of = failing.fingerprint, "", ""
    while True:
        known = _known(failing.workspace_id, fingerprint)
        if known is None:
            known = _make(failing, fingerprint, split_on=split_on, part_of=part_of)
        if not known.split_by:
            return Placed(known.group_id, fingerprint)
        value = failing.facets.get(known.split_by, "")
        part = part_fingerprint(fingerprint, known.split_by, value)
        if _known(failing.workspace_id, part) is None and _has_enough_parts(known):
            part = part_fingerprint(fingerprint, known.split_by, OTHERS)
            ensure(failing.workspace_id, part, known.group_id, part_of=fingerprint)
        fingerprint, part_of, split_on = part, fingerprint, label(known.split_by, value)


def part_fingerprint(fingerprint: str, by: str, value: str) -> str:
    """Return the fingerprint of a part: the failures whose facet `by` has this value."""
    return hashlib.sha256(f"{fingerprint}\n{by}\n{value}".encode()).hexdigest()


def ensure(workspace_id: UUID, fingerprint: str, group_id: UUID, *, part_of: str = "") -> None:
    """Assign a fingerprint to a group, unless the fingerprint already has a group."""
    row = GroupFingerprint(
        workspace_id=workspace_id, fingerprint=fingerprint, group_id=group_id, part_of=part_of
    )
    GroupFingerprint.objects.bulk_create([row], ignore_conflicts=True)


def note_news(group_id: UUID, *, version_number: int = 0, seen: int = 0, opened: int = 0) -> None:
    """Queue a change of a group's counters: by `seen` failures, and by `opened` open failures."""
    GroupNews.objects.create(
        group_id=group_id, version_number=version_number, seen=seen, open=opened
    )


def note_entry(entry_id: UUID) -> None:
    """Queue the changes of the group's counters that a new entry causes."""
    statements.fetch("queue_new_dead_letter_changes", {"id": entry_id})


def note_of_entries(entry_ids: Sequence[UUID], *, opened: int) -> None:
    """Queue one change of the open counter of each group that contains given entries.

    The change is `opened` (1 or -1) times the number of the group's given entries.

    The entries' current groups are used, because a group that was read earlier may be outdated. The
    caller has locked or changed the entries in this transaction, so their groups cannot change.
    """
    statements.fetch("queue_open_changes", {"ids": list(entry_ids), "opened": opened})


def _known(workspace_id: UUID, fingerprint: str) -> GroupFingerprint | None:
    rows = GroupFingerprint.objects.filter(workspace_id=workspace_id, fingerprint=fingerprint)
    return rows.first()


def _has_enough_parts(whole: GroupFingerprint) -> bool:
    parts = GroupFingerprint.objects.filter(
        workspace_id=whole.workspace_id, part_of=whole.fingerprint
    )
    return parts[:MOST_PARTS].count() >= MOST_PARTS


def _make(failing: Failing, fingerprint: str, **more: Any) -> GroupFingerprint:
    part_of = more.pop("part_of")
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
        **more,
    )
    ensure(failing.workspace_id, fingerprint, group.pk, part_of=part_of)
    found = _known(failing.workspace_id, fingerprint)
    assert found is not None, "the row was inserted, by us or by whom we waited for"
    if found.group_id != group.pk:
        group.delete()
    return found
