"""The operations that users can perform on a dead letter in the admin."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms

from dlq.models import DeadLetterEntry
from dlq.resolve import operations
from dlq.resolve.fix_or_skip import outputs_template
from executions.access import powers_on_row
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import links
from executions.admin.operations import (
    AdminOperation,
    JSONTextField,
    NotesForm,
    OverridesForm,
    ReasonForm,
)
from executions.admin.scope import may, user_of
from executions.admin.skin import TextInput
from executions.errors import PayloadError
from executions.language import lazy
from executions.states import Permission
from runners.repair.manual_results import ResultRefused, check
from runners.repair.permissions import ApprovalNeeded, check_repair

# Whether a user may repair a dead letter with other inputs, or with a manual result.


def checked(operation: Operation) -> Operation:
    """Return the operation with a check: only authors may repair an execution with an approval."""

    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
        check_entry_repair(pk, actor)
        return operation.apply(pk, actor, data)

    return replace(operation, apply=apply)


def check_entry_repair(entry_id: UUID, actor: Actor) -> None:
    """Raise Forbidden if the execution has an approval and the user is not an author."""
    rows = DeadLetterEntry.objects.only("id", "execution_id", "workspace_id", "workflow_id")
    entry = rows.filter(pk=entry_id).first()
    if entry is not None:
        check_repair(powers_on_row(user_of(actor), entry), entry.execution_id)


# The form of "Fix with outputs…", in which a user enters the result of the failed step.


HELP = lazy("The step's result. Later steps read it.")


class FixForm(NotesForm):
    """Asks for the result of the step; suggests a likely result, and reports invalid values."""

    outputs = JSONTextField(
        label=lazy("Outputs (JSON)"),
        rows=10,
        required=True,
        help_text=HELP,
    )
    outcome = forms.CharField(
        required=False,
        max_length=100,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy(
            "Required only for steps that choose a branch, such as flow.if: true or false."
        ),
        label=lazy("Outcome"),
    )
    field_order = ("outputs", "outcome", "notes")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = DeadLetterEntry.objects.select_related("execution")
        pk = kwargs.get("object_id")
        self.entry = None if pk is None else rows.filter(pk=pk).first()
        if self.entry is not None and not self.is_bound:
            self._begin(self.entry, kwargs.get("request"))

    def _begin(self, entry: DeadLetterEntry, request: Any) -> None:
        sees = request is not None and may(request, entry, Permission.VIEW_PAYLOADS)
        outputs, origin = outputs_template(entry, with_payloads=sees)
        if origin:
            self.initial["outputs"] = json.dumps(outputs, ensure_ascii=False, indent=2)
            self.fields["outputs"].help_text = f"{HELP} {origin}"

    def clean(self) -> dict[str, Any]:
        """Return the data; report an invalid result next to the field with the invalid value."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if self.entry is None or self.errors:
            return given
        version_id = self.entry.execution.version_id
        outcome = given.get("outcome") or None
        try:
            check(version_id, self.entry.step_path, given.get("outputs"), outcome, "")
        except PayloadError as error:
            self.add_error("outputs", str(error))
        except ApprovalNeeded as refusal:
            self.add_error("outputs", str(refusal))
        except ResultRefused as refusal:
            for problem in refusal.problems:
                where = "outcome" if problem.path == "outcome" else "outputs"
                self.add_error(where, f"{problem.path}: {problem.message}")
        return given


class RequiredNotesForm(NotesForm):
    """Asks for notes, which are required because they give the reason for the action."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["notes"].required = True


class WriteNotesForm(NotesForm):
    """Asks for notes; the field initially contains the dead letter's current notes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pk = kwargs.get("object_id")
        if pk is not None and not self.is_bound:
            rows = DeadLetterEntry.objects.filter(pk=pk).values_list("notes", flat=True)
            self.initial["notes"] = rows.first() or ""


REQUEUE = AdminOperation(
    operations.REQUEUE,
    title=lazy("Requeue…"),
    icon="replay",
    done=lazy("requeued"),
    question=lazy("Starts a new run of the step in the same execution, with the same inputs."),
    form=ReasonForm,
    primary=True,
)
REQUEUE_WITH = AdminOperation(
    checked(operations.REQUEUE_WITH),
    title=lazy("Requeue with overrides…"),
    icon="edit_note",
    done=lazy("requeued"),
    question=lazy("Starts a new run of the step with these changes merged into its inputs."),
    form=OverridesForm,
)
FIX = AdminOperation(
    checked(operations.FIX),
    title=lazy("Fix with outputs…"),
    icon="build",
    done=lazy("fixed"),
    question=lazy(
        "Uses these outputs as the step's result without running the step, and continues the "
        "execution."
    ),
    form=FixForm,
    bulk=False,
    destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
)
SKIP = AdminOperation(
    operations.SKIP,
    title=lazy("Skip step…"),
    icon="skip_next",
    done=lazy("skipped"),
    question=lazy(
        "Skips the step and the rest of its task, and continues the execution. A task that follows "
        "a skipped task is skipped too, unless it has “join: any” (the default) and another edge "
        "into it is taken."
    ),
    form=RequiredNotesForm,
    danger=True,
    destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
)
DISCARD = AdminOperation(
    operations.DISCARD,
    title=lazy("Discard…"),
    icon="delete",
    done=lazy("discarded"),
    question=lazy(
        "Closes the dead letter without a retry. You can restore it until retention deletes it."
    ),
    form=RequiredNotesForm,
    danger=True,
)
RESTORE = AdminOperation(
    operations.RESTORE,
    title=lazy("Restore…"),
    icon="undo",
    done=lazy("restored"),
    question=lazy("Reopens the discarded dead letter."),
)
PIN = AdminOperation(
    operations.PIN,
    title=lazy("Pin…"),
    icon="keep",
    done=lazy("pinned"),
    question=lazy("Retention never deletes a pinned dead letter."),
)
UNPIN = AdminOperation(
    operations.UNPIN,
    title=lazy("Unpin…"),
    icon="keep_off",
    done=lazy("unpinned"),
    question=lazy(
        "After the dead letter is resolved, retention deletes it at the end of the retention "
        "period."
    ),
)
NOTE = AdminOperation(
    operations.NOTE,
    title=lazy("Edit notes…"),
    icon="edit_note",
    done=lazy("changed"),
    question=lazy("Shown on the dead letter's page and in the API."),
    form=WriteNotesForm,
    bulk=False,
)
ALL = (REQUEUE, REQUEUE_WITH, FIX, SKIP, DISCARD, RESTORE, NOTE, PIN, UNPIN)
