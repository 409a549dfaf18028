"""The forms of canaries and rollbacks."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from executions.public.admin import ReasonForm
from executions.public.admin_skin import IntegerInput, Select, TextInput
from executions.public.language import lazy
from valkyr_plugins.canary import figures
from valkyr_plugins.canary.models import Canary, Treatment
from valkyr_plugins.canary.stop_rule import StopRule

RULE = StopRule()
# Equivalent to no rule: nothing stops the canary, and one ended execution allows its promotion.
NO_RULE = StopRule(at_least=1, failure_rate=None, new_group=None)


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


class ChangeForm(CanaryForm):
    """The form that changes a running canary; it opens with the canary's values."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial=_values(kwargs["object_id"]), **kwargs)
        # The remaining hours decrease while the user types, so compare with the displayed hours.
        self.fields["promote_hours"].show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        """Return the data, without the promotion time if the user did not change it."""
        data: dict[str, Any] = super().clean()
        if "promote_hours" not in self.changed_data:
            data.pop("promote_hours", None)
        return data


def _values(canary_id: Any) -> dict[str, Any]:
    """Return a canary's values, keyed by form field."""
    canary = Canary.objects.only("percent", "stop", "promote_at").get(pk=canary_id)
    rule = figures.rule_of(canary) or NO_RULE
    return {
        "percent": canary.percent,
        **asdict(rule),
        "promote_hours": canary.promote_at and _hours_until(canary.promote_at),
    }


def _hours_until(at: datetime) -> float:
    return max(0.01, round((at - timezone.now()) / timedelta(hours=1), 2))


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
