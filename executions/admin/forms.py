"""The small forms that operations ask with."""

import json
from typing import Any

from django import forms
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class JSONTextField(forms.CharField):
    """A text area whose value is parsed; mistakes are told with line and column."""

    def __init__(self, *, rows: int = 8, must_be_object: bool = False, **options: Any) -> None:
        self.must_be_object = must_be_object
        options.setdefault("required", False)
        widget = UnfoldAdminTextareaWidget(attrs={"rows": rows, "spellcheck": "false"})
        widget.attrs["class"] = f"{widget.attrs.get('class', '')} vk-code"
        super().__init__(widget=widget, strip=True, **options)

    def clean(self, value: Any) -> Any:
        """The parsed value; {} for an empty text."""
        text = super().clean(value)
        if not text:
            return {}
        try:
            parsed = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise forms.ValidationError(
                f"Not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
            ) from None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"Not JSON: {error}.") from None
        if self.must_be_object and not isinstance(parsed, dict):
            raise forms.ValidationError(
                f"Expected an object such as {{}}, found {type(parsed).__name__}."
            )
        return parsed


class ReasonForm(BaseDialogForm):
    """Asks why; the answer goes to the audit trail."""

    reason = forms.CharField(
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Kept in the activity log.",
    )


class PayloadForm(BaseDialogForm):
    """Asks for an execution's payload."""

    payload = JSONTextField(
        label="Payload (JSON)",
        rows=10,
        help_text="Checked against the workflow's input schema. Empty means {}.",
    )


class OverridesForm(ReasonForm):
    """Asks for a change of the step's inputs."""

    overrides = JSONTextField(
        label="Overrides (JSON)",
        rows=8,
        must_be_object=True,
        required=True,
        help_text='Merged into the step\'s inputs, nested keys too: {"url": "https://…"}.',
    )
    field_order = ("overrides", "reason")


class NotesForm(BaseDialogForm):
    """Asks for a note that stays on the object."""

    notes = forms.CharField(
        required=False,
        max_length=5_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="Why this needs no further work; kept on the entry.",
    )
