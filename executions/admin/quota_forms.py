"""The forms of quotas: what is limited, and how much."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from unfold.widgets import UnfoldAdminTextInputWidget

from executions.models import Quota
from executions.quotas.rules import LIMITS, QuotaRefused, check
from executions.states import Resource

HELP = {
    "resource": "Executions that start, steps of one module type, or tokens of language models.",
    "target": "The module type, such as http.request; for tokens a model, or nothing for all.",
    "max_concurrent": "Steps of a module type that run at once. Empty: no limit.",
    "max_per_hour": "In a full hour (UTC). Empty: no limit; 0: none.",
    "max_per_day": "In a day (UTC). Empty: no limit; 0: none.",
}


class QuotaForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """Limits on what goes on at once, by the hour and by the day."""

    class Meta:
        model = Quota
        fields: tuple[str, ...] = LIMITS
        help_texts = HELP

    def clean(self) -> dict[str, Any]:
        """Tell what such a quota cannot say."""
        data = super().clean() or {}
        if not self.errors:
            what = {"resource": self.instance.resource, "target": self.instance.target}
            what |= {name: data[name] for name in (*what, *LIMITS) if name in data}
            try:
                check(Quota(**what))
            except QuotaRefused as refused:
                raise forms.ValidationError(refused.message) from None
        return data


class NewQuotaForm(QuotaForm):
    """A workspace or a member to limit; the name is typed, so that nobody reads a list of all."""

    username = forms.CharField(
        max_length=150,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="A member's name. Empty: the quota is the whole workspace's.",
    )

    class Meta(QuotaForm.Meta):
        fields = ("workspace", "resource", "target", *LIMITS)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["resource"].required = False

    def clean_resource(self) -> str:
        """Executions, unless something else was chosen."""
        return str(self.cleaned_data.get("resource") or Resource.EXECUTIONS)

    def clean(self) -> dict[str, Any]:
        """Find the member."""
        data = super().clean()
        name = data.get("username")
        user = get_user_model().objects.filter(username=name).first() if name else None
        if name and user is None:
            self.add_error("username", "There is no such user.")
        data["user_id"] = user and user.pk
        return data
