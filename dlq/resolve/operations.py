"""Users' operations on one dead letter: requeue, fix, skip, discard, restore, note, pin and unpin.

After an approval, other inputs or a manual result also need the action AUTHOR: the admin and the
API call `runners.repair.permissions.check_repair` first.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import discard
from dlq.resolve.fix_or_skip import fix, skip
from dlq.resolve.requeue import requeue
from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.definition.graph.places import undoes
from executions.states import Permission
from runners.models import Run

Data = Mapping[str, Any]


def _requeue(pk: UUID, actor: Actor, data: Data) -> Run:
    overrides = data.get("overrides") or None
    return requeue(pk, actor=actor, overrides=overrides, reason=data.get("reason", ""))


def _fix(pk: UUID, actor: Actor, data: Data) -> Run:
    outcome = data.get("outcome") or None
    return fix(pk, data["outputs"], outcome=outcome, actor=actor, notes=data["notes"])


def _skip(pk: UUID, actor: Actor, data: Data) -> Run:
    return skip(pk, actor=actor, reason=data["notes"])


def _discard(pk: UUID, actor: Actor, data: Data) -> DeadLetterEntry:
    return discard.discard(pk, actor=actor, notes=data["notes"])


def _restore(pk: UUID, actor: Actor, data: Data) -> DeadLetterEntry:
    return discard.restore(pk, actor=actor, reason=data["reason"])


def _pin(pk: UUID, actor: Actor, data: Data) -> DeadLetterEntry:
    return discard.pin(pk, actor=actor, reason=data["reason"])


def _unpin(pk: UUID, actor: Actor, data: Data) -> DeadLetterEntry:
    return discard.unpin(pk, actor=actor, reason=data["reason"])


def _note(pk: UUID, actor: Actor, data: Data) -> DeadLetterEntry:
    return discard.write_notes(pk, data["notes"], actor=actor)


def _refuse_resolved(row: DeadLetterEntry) -> str:
    if row.resolution == Resolution.PENDING:
        return ""
    return f"Not possible: this dead letter is already {Resolution(row.resolution).label}."


def _refuse_gone(row: DeadLetterEntry) -> str:
    """Return the reason why the operation is not possible, or "".

    The dead letter must be open. After an undo begins, only undo steps can continue.
    """
    if reason := _refuse_resolved(row):
        return reason
    if not row.execution.compensation or undoes(row.step_path):
        return ""
    return (
        "The execution of this dead letter was undone, or is being undone. Start the workflow "
        "again, or replay the execution."
    )


def _refuse_kept(row: DeadLetterEntry) -> str:
    if row.resolution == Resolution.DISCARDED:
        return ""
    word = Resolution(row.resolution).label
    return f"Only discarded dead letters can be restored; this one is {word}."


def _refuse_pinned(row: DeadLetterEntry) -> str:
    return "This dead letter is already pinned." if row.pinned else ""


def _refuse_unpinned(row: DeadLetterEntry) -> str:
    return "" if row.pinned else "This dead letter is not pinned."


REQUEUE = Operation(name="requeue", apply=_requeue, needs=Permission.REDRIVE, refuse=_refuse_gone)
REQUEUE_WITH = Operation(
    name="requeue_with", apply=_requeue, needs=Permission.REDRIVE_CHANGED, refuse=_refuse_gone
)
FIX = Operation(name="fix", apply=_fix, needs=Permission.REDRIVE_CHANGED, refuse=_refuse_gone)
SKIP = Operation(name="skip", apply=_skip, needs=Permission.REDRIVE_CHANGED, refuse=_refuse_gone)
DISCARD = Operation(
    name="discard", apply=_discard, needs=Permission.DISCARD, refuse=_refuse_resolved
)
RESTORE = Operation(name="restore", apply=_restore, needs=Permission.DISCARD, refuse=_refuse_kept)
PIN = Operation(name="pin", apply=_pin, needs=Action.OPERATE, refuse=_refuse_pinned)
NOTE = Operation(name="note", apply=_note, needs=Action.OPERATE)
UNPIN = Operation(name="unpin", apply=_unpin, needs=Action.OPERATE, refuse=_refuse_unpinned)
