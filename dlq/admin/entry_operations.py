"""What can be done to a dead letter in the admin: sent home, fixed, skipped, let rest, kept."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from dlq.admin.fix import DIALOG_IDS, fix_operation
from dlq.admin.repair import check_entry_repair
from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import triage
from dlq.resolve.requeue import requeue
from dlq.resolve.skip import skip
from executions.access import Action
from executions.access.actor import Actor
from executions.admin import links
from executions.admin.forms import NotesForm, OverridesForm, ReasonForm
from executions.admin.operations import Operation
from executions.states import Permission


class RequiredNotesForm(NotesForm):
    """Asks why; without an answer nothing is done."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The page around the dialog has a field of that name as well.
        super().__init__(*args, auto_id=DIALOG_IDS, **kwargs)
        self.fields["notes"].required = True


def _requeue(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    if data.get("overrides"):
        check_entry_repair(pk, actor)
    return requeue(pk, actor=actor, overrides=data.get("overrides"), reason=data["reason"])


def _discard(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    return triage.discard(pk, actor=actor, notes=data["notes"])


def _skip(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    return skip(pk, actor=actor, reason=data["notes"])


def _with_reason(act: Callable[..., Any]) -> Callable[[UUID, Actor, Mapping[str, Any]], Any]:
    return lambda pk, actor, data: act(pk, actor=actor, reason=data["reason"])


def refuse_resolved(row: DeadLetterEntry) -> str:
    """Why a dead letter cannot be resolved: it is already."""
    if row.resolution == Resolution.PENDING:
        return ""
    word = Resolution(row.resolution).label
    return f"Nothing to do: this dead letter is {word}."


def _refuse_kept(row: DeadLetterEntry) -> str:
    if row.resolution == Resolution.DISCARDED:
        return ""
    word = Resolution(row.resolution).label
    return f"Nothing to take back: this dead letter is {word}, not discarded."


REQUEUE = Operation(
    name="requeue",
    title="Requeue…",
    icon="replay",
    done="requeued",
    question="Starts a new run of the step in the same execution, with the same inputs.",
    apply=_requeue,
    needs=Permission.REDRIVE,
    refuse=refuse_resolved,
    form=ReasonForm,
    primary=True,
)
REQUEUE_WITH = Operation(
    name="requeue_with",
    title="Requeue with overrides…",
    icon="edit_note",
    done="requeued",
    question="Starts a new run of the step with these changes merged into its inputs.",
    apply=_requeue,
    needs=Permission.REDRIVE_CHANGED,
    refuse=refuse_resolved,
    form=OverridesForm,
)
FIX = fix_operation(refuse_resolved)
SKIP = Operation(
    name="skip",
    title="Skip the step…",
    icon="skip_next",
    done="skipped",
    question="The execution goes on without the step. What depends on it alone is skipped too; "
    "a join that takes any of several edges goes on with the others.",
    apply=_skip,
    needs=Permission.REDRIVE_CHANGED,
    refuse=refuse_resolved,
    form=RequiredNotesForm,
    danger=True,
    destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
)
DISCARD = Operation(
    name="discard",
    title="Discard…",
    icon="delete",
    done="discarded",
    question="Closes the dead letter without another try. The evidence is kept for 30 days, and "
    "so long it can be restored.",
    apply=_discard,
    needs=Permission.DISCARD,
    refuse=refuse_resolved,
    form=RequiredNotesForm,
    danger=True,
)
RESTORE = Operation(
    name="restore",
    title="Restore…",
    icon="undo",
    done="restored",
    question="Takes the discard back: the dead letter is open again.",
    apply=_with_reason(triage.restore),
    needs=Permission.DISCARD,
    refuse=_refuse_kept,
)
PIN = Operation(
    name="pin",
    title="Pin…",
    icon="keep",
    done="pinned",
    question="Keeps it for good: retention deletes no pinned dead letter.",
    apply=_with_reason(triage.pin),
    needs=Action.OPERATE,
    refuse=lambda row: "Nothing to do: it is pinned already." if row.pinned else "",
)
UNPIN = Operation(
    name="unpin",
    title="Unpin…",
    icon="keep_off",
    done="unpinned",
    question="Retention deletes it when its time is over, as any other.",
    apply=_with_reason(triage.unpin),
    needs=Action.OPERATE,
    refuse=lambda row: "" if row.pinned else "Nothing to do: it is not pinned.",
)
ALL = (REQUEUE, REQUEUE_WITH, FIX, SKIP, DISCARD, RESTORE, PIN, UNPIN)
