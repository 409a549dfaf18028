"""How the admin offers what users do to a dead letter."""

from typing import Any

from dlq.admin.fix import DIALOG_IDS, FixForm
from dlq.admin.repair import checked
from dlq.resolve import operations
from executions.admin import links
from executions.admin.forms import NotesForm, OverridesForm, ReasonForm
from executions.admin.operations import AdminOperation


class RequiredNotesForm(NotesForm):
    """Asks why; without an answer nothing is done."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The page around the dialog has a field of that name as well.
        super().__init__(*args, auto_id=DIALOG_IDS, **kwargs)
        self.fields["notes"].required = True


REQUEUE = AdminOperation(
    operations.REQUEUE,
    title="Requeue…",
    icon="replay",
    done="requeued",
    question="Starts a new run of the step in the same execution, with the same inputs.",
    form=ReasonForm,
    primary=True,
)
REQUEUE_WITH = AdminOperation(
    checked(operations.REQUEUE_WITH),
    title="Requeue with overrides…",
    icon="edit_note",
    done="requeued",
    question="Starts a new run of the step with these changes merged into its inputs.",
    form=OverridesForm,
)
FIX = AdminOperation(
    checked(operations.FIX),
    title="Fix with outputs…",
    icon="build",
    done="fixed",
    question="Takes these outputs as the step's result, without running it, and goes on.",
    form=FixForm,
    bulk=False,
    destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
)
SKIP = AdminOperation(
    operations.SKIP,
    title="Skip the step…",
    icon="skip_next",
    done="skipped",
    question="The execution goes on without the step. What depends on it alone is skipped too; "
    "a join that takes any of several edges goes on with the others.",
    form=RequiredNotesForm,
    danger=True,
    destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
)
DISCARD = AdminOperation(
    operations.DISCARD,
    title="Discard…",
    icon="delete",
    done="discarded",
    question="Closes the dead letter without another try. The evidence is kept for 30 days, and "
    "so long it can be restored.",
    form=RequiredNotesForm,
    danger=True,
)
RESTORE = AdminOperation(
    operations.RESTORE,
    title="Restore…",
    icon="undo",
    done="restored",
    question="Takes the discard back: the dead letter is open again.",
)
PIN = AdminOperation(
    operations.PIN,
    title="Pin…",
    icon="keep",
    done="pinned",
    question="Keeps it for good: retention deletes no pinned dead letter.",
)
UNPIN = AdminOperation(
    operations.UNPIN,
    title="Unpin…",
    icon="keep_off",
    done="unpinned",
    question="Retention deletes it when its time is over, as any other.",
)
ALL = (REQUEUE, REQUEUE_WITH, FIX, SKIP, DISCARD, RESTORE, PIN, UNPIN)
