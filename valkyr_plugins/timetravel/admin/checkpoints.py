"""Checkpoints on the execution's page, and taking one by hand."""

from django import forms
from django.http import HttpRequest
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from executions.public.access import Operation
from executions.public.admin import (
    AdminOperation,
    PageSection,
    WorkflowExecutionAdmin,
    execution_panels,
    marks,
)
from executions.public.models import WorkflowExecution
from valkyr_plugins.timetravel.checkpoints import take_by_hand
from valkyr_plugins.timetravel.models import Checkpoint, CheckpointKind

SHOWN = 50
HEADERS = ("Number", "Name", "After", "Taken", "By", "Can be gone back to")


class NameForm(BaseDialogForm):
    """Asks what to call it."""

    name = forms.CharField(
        required=False,
        max_length=200,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="To find it again, such as “before the second try”.",
    )


CHECKPOINT = AdminOperation(
    Operation(
        name="checkpoint",
        apply=lambda pk, actor, data: take_by_hand(pk, name=data["name"], actor=actor),
    ),
    title="Take checkpoint…",
    icon="flag",
    done="marked by a checkpoint",
    question="Keeps the variables as they are now; the execution can be set back to here.",
    form=NameForm,
)


def checkpoints(request: HttpRequest, execution: WorkflowExecution) -> PageSection:
    """A row a checkpoint, the newest first."""
    found = (
        Checkpoint.objects.filter(execution=execution)
        .select_related("created_by")
        .only("sequence", "name", "step_path", "kind", "epoch", "created_at",
              "created_by__username")
        .order_by("-sequence")[:SHOWN]
    )  # fmt: skip
    return PageSection(
        "Checkpoints",
        headers=HEADERS,
        rows=[
            [
                str(row.sequence),
                marks.clipped(row.name) or marks.EMPTY,
                row.step_path or marks.EMPTY,
                marks.ago(row.created_at),
                _who(row),
                "yes" if row.epoch == execution.epoch else "no: rolled back past it",
            ]
            for row in found
        ],
        empty="None. Any finished step is a point to go back to as well.",
        folded=True,
    )


def _who(row: Checkpoint) -> str:
    if row.kind == CheckpointKind.AUTO:
        return "the engine"
    return row.created_by.get_username() if row.created_by else marks.EMPTY


execution_panels.insert(0, checkpoints)
WorkflowExecutionAdmin.offer(CHECKPOINT)
