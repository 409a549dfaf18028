"""The form of "Fix with outputs…": a user gives the result of the step that failed."""

import json
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from dlq.models import DeadLetterEntry
from dlq.resolve.outputs_template import template
from executions.admin.forms import JSONTextField, NotesForm
from executions.admin.scope import may
from executions.errors import PayloadError
from executions.states import Permission
from runners.repair.approvals import ApprovalNeeded
from runners.repair.manual_results import ResultRefused, check

DIALOG_IDS = "dialog_%s"
HELP = "What the step's module would have given; later steps read it."


class FixForm(NotesForm):
    """Asks for the result; begins with a likely one, and says at the field what cannot be."""

    outputs = JSONTextField(
        label="Outputs (JSON)",
        rows=10,
        required=True,
        help_text=HELP,
    )
    outcome = forms.CharField(
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Only for a step that decides where to go on, such as flow.if: true or false.",
    )
    field_order = ("outputs", "outcome", "notes")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The page around the dialog has a field of that name as well.
        super().__init__(*args, auto_id=DIALOG_IDS, **kwargs)
        rows = DeadLetterEntry.objects.select_related("execution")
        pk = kwargs.get("object_id")
        self.entry = None if pk is None else rows.filter(pk=pk).first()
        if self.entry is not None and not self.is_bound:
            self._begin(self.entry, kwargs.get("request"))

    def _begin(self, entry: DeadLetterEntry, request: Any) -> None:
        sees = request is not None and may(request, entry, Permission.VIEW_PAYLOADS)
        outputs, origin = template(entry, with_payloads=sees)
        if origin:
            self.initial["outputs"] = json.dumps(outputs, ensure_ascii=False, indent=2)
            self.fields["outputs"].help_text = f"{HELP} {origin}"

    def clean(self) -> dict[str, Any]:
        """Refuse what the step could not have come to, at the field that says it."""
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
