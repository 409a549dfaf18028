"""The forms of canaries and rollbacks."""

from typing import Any

from django import forms

from executions.public.admin import ReasonForm
from executions.public.admin_skin import IntegerInput, Select, TextInput
from executions.public.language import lazy
from valkyr_plugins.canary import figures
from valkyr_plugins.canary.models import Treatment
from valkyr_plugins.canary.stop_rule import StopRule

RULE = StopRule()


def _number(label: Any, help_text: Any, **rules: Any) -> forms.FloatField:
    """Return a form field for a decimal number; it is optional by default."""
    attrs = {"autocomplete": "off", "inputmode": "decimal"}
    rules = {"required": False} | rules
    return forms.FloatField(
        label=label, help_text=help_text, widget=TextInput(attrs=attrs), **rules
    )


class CanaryForm(ReasonForm):
    """The form for a canary's share, and for the conditions that stop or promote it."""

    percent = _number(
        lazy("Share of new executions, in percent"),
        lazy("Executions with the same key use the same version."),
        required=True,
        min_value=0.01,
        max_value=100,
        initial=5,
    )
    failure_rate = _number(
        lazy("Stop above this failure rate, in percent"),
        lazy("Leave empty for no limit."),
        min_value=0,
        max_value=100,
        initial=RULE.failure_rate,
    )
    at_least = forms.IntegerField(
        label=lazy("Compare after this many ended executions"),
        min_value=1,
        max_value=figures.MOST,
        initial=RULE.at_least,
        widget=IntegerInput,
        help_text=lazy(
            "Before that, the failure rate and the durations stop the canary only if they are "
            "clearly above the limits."
        ),
    )
    slower = _number(
        lazy("Stop if slower by this factor"),
        lazy("Compares the 95th percentiles. Leave empty for no limit."),
        min_value=1,
        max_value=1_000,
    )
    new_group = forms.IntegerField(
        label=lazy("Stop at this many dead letters in a new failure group"),
        required=False,
        min_value=1,
        initial=RULE.new_group,
        widget=IntegerInput,
        help_text=lazy("Leave empty for no limit."),
    )
    promote_hours = _number(
        lazy("Promote after this many hours"),
        lazy(
            "Also requires the number of ended executions above. Leave empty to promote the canary "
            "manually."
        ),
        min_value=0.01,
        max_value=400 * 24,
    )
    field_order = (
        "percent", "failure_rate", "at_least", "slower", "new_group", "promote_hours", "reason",
    )  # fmt: skip


class RollbackForm(ReasonForm):
    """The form that asks how to treat the executions that started on the withdrawn version."""

    executions = forms.ChoiceField(
        label=lazy("Executions that started on the version"),
        choices=Treatment.choices,
        initial=Treatment.LEAVE,
        widget=Select,
        help_text=lazy(
            "Forking first cancels unfinished executions. A fork continues from the first step "
            "that failed or had not ended. Earlier steps run again only if they were undone."
        ),
    )
    field_order = ("executions", "reason")
