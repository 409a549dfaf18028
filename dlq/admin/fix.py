"""The operation "Fix with outputs…": a person gives the result of the step that failed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from dlq.fixing import fix
from executions.actor import Actor
from executions.admin import links
from executions.admin.forms import JSONTextField, NotesForm
from executions.admin.operations import Operation
from executions.states import Permission


class FixForm(NotesForm):
    """Asks for the result."""

    outputs = JSONTextField(
        label="Outputs (JSON)",
        rows=8,
        required=True,
        help_text="What the step's module would have given; later steps read it.",
    )
    outcome = forms.CharField(
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Only for a step that decides where to go on, such as flow.if: true or false.",
    )
    field_order = ("outputs", "outcome", "notes")


def _fix(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    return fix(
        pk,
        data["outputs"],
        outcome=data["outcome"] or None,
        actor=actor,
        notes=data["notes"],
    )


def fix_operation(refuse: Any) -> Operation:
    """The operation; `refuse` says why an entry cannot be resolved."""
    return Operation(
        name="fix",
        title="Fix with outputs…",
        icon="build",
        done="fixed",
        question="Takes these outputs as the step's result, without running it, and goes on.",
        apply=_fix,
        needs=Permission.REDRIVE_CHANGED,
        refuse=refuse,
        form=FixForm,
        bulk=False,
        destination=lambda run: links.page("executions_workflowexecution", run.execution_id),
    )
