"""What a redrive is asked with, and what is asked before it starts."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from executions.public.admin import JSONTextField, ReasonForm
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.states import RedriveScope
from valkyr_plugins.redrive.wish import LATEST, PINNED, Wish, scopes

# More than so many are not started by a click alone: the number is typed.
TYPED_ABOVE = 100


def _text(**attrs: Any) -> UnfoldAdminTextInputWidget:
    return UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", **attrs})


def _scopes() -> list[tuple[str, str]]:
    offered = scopes()
    return [choice for choice in RedriveScope.choices if choice[0] in offered]


class RedriveForm(forms.Form):
    """Scope, changes, pace and reason of a redrive."""

    scope = forms.ChoiceField(
        label="What runs again",
        choices=_scopes,
        widget=UnfoldAdminSelectWidget,
        help_text="The first keeps what the execution has done; the others leave it as it is.",
    )
    from_step = forms.CharField(
        label="From step",
        required=False,
        max_length=1000,
        widget=_text(),
        help_text='With "from a chosen step": its path (charge.main). Empty: the failed one.',
    )
    version = forms.CharField(
        required=False,
        max_length=10,
        widget=_text(placeholder=PINNED),
        help_text=f'Of new executions: "{PINNED}" (the one that failed), "{LATEST}" or a number.',
    )
    overrides = JSONTextField(
        label="Overrides (JSON merge patch)",
        rows=5,
        must_be_object=True,
        help_text="Merged into each entry's inputs; null removes a key. Empty: as they were.",
    )
    expression = forms.CharField(
        label="Or an expression that gives each entry's patch",
        required=False,
        max_length=10_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="It reads inputs, error, attempts and entry.",
    )
    rate = forms.FloatField(
        label="A second, at most",
        required=False,
        min_value=0.01,
        max_value=10_000,
        widget=_text(inputmode="decimal"),
        help_text="Empty: as fast as it goes.",
    )
    max_in_flight = forms.IntegerField(
        label="In flight, at most",
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="So many may run at once. Empty: any number.",
    )
    canary = forms.IntegerField(
        label="Canary",
        required=False,
        min_value=0,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="So many go first, and are waited for.",
    )
    stop_above = forms.FloatField(
        label="Stop when more fail again than (%)",
        required=False,
        min_value=0,
        max_value=100,
        widget=_text(inputmode="decimal"),
        help_text="Of the last hundred that ended. Empty: never.",
    )
    reason = forms.CharField(
        required=False,
        max_length=2_000,
        widget=_text(),
        help_text="Kept on the redrive and in the activity log.",
    )

    def clean_version(self) -> str | int:
        """Pinned, latest or a number."""
        text = str(self.cleaned_data["version"] or PINNED).strip()
        if text in (PINNED, LATEST):
            return text
        if not text.isdecimal() or int(text) < 1:
            raise forms.ValidationError(
                f'Expected "{PINNED}", "{LATEST}" or a number, found {text!r}.'
            )
        return int(text)

    def clean(self) -> dict[str, Any]:
        """One way of changing inputs at a time."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("overrides") and data.get("expression"):
            raise forms.ValidationError("Give overrides or an expression, not both.")
        return data

    @property
    def changes_inputs(self) -> bool:
        """Whether entries would run with other inputs."""
        return bool(self.cleaned_data.get("overrides") or self.cleaned_data.get("expression"))

    def wish(self, selection: Any, group_id: Any) -> Wish:
        """The valid form's values as a wish."""
        data = self.cleaned_data
        return Wish(
            selection=selection,
            group_id=group_id,
            scope=data["scope"],
            from_step=data["from_step"],
            version=data["version"],
            overrides=data["overrides"] or None,
            expression=data["expression"],
            rate=data["rate"],
            max_in_flight=data["max_in_flight"],
            canary=data["canary"] or 0,
            stop_above=data["stop_above"],
            reason=data["reason"],
        )


class StartForm(ReasonForm):
    """Asks for the number of entries where there are many."""

    count = forms.IntegerField(
        label="How many entries",
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Type the number of entries of this redrive, so that nothing large starts by a "
        "slip of the hand.",
    )
    field_order = ("count", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Redrive.objects.filter(pk=self.object_id) if self.object_id else None
        self.total = rows.values_list("total", flat=True).first() if rows is not None else None
        if self.total is not None and self.total <= TYPED_ABOVE:
            del self.fields["count"]

    def clean_count(self) -> int:
        """The number, if it is right."""
        count = int(self.cleaned_data["count"])
        if count != self.total:
            raise forms.ValidationError(f"This redrive has {self.total} entries, not {count}.")
        return count
