"""The forms of quotas: what is limited, and how much."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from unfold.widgets import UnfoldAdminTextInputWidget

from executions.models import Quota

HELP = {
    "max_per_hour": "Executions in a full hour (UTC). Empty: no limit; 0: nothing starts.",
    "max_per_day": "Executions in a day (UTC). Empty: no limit; 0: nothing starts.",
}


class QuotaForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """Limits by the hour and by the day."""

    class Meta:
        model = Quota
        fields: tuple[str, ...] = ("max_per_hour", "max_per_day")
        help_texts = HELP

    def clean(self) -> dict[str, Any]:
        """One limit at least."""
        data = super().clean() or {}
        if not self.errors and data["max_per_hour"] is None and data["max_per_day"] is None:
            raise forms.ValidationError("A quota limits something: give one of the two numbers.")
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
        fields = ("workspace", "max_per_hour", "max_per_day")

    def clean(self) -> dict[str, Any]:
        """Find the member."""
        data = super().clean()
        name = data.get("username")
        user = get_user_model().objects.filter(username=name).first() if name else None
        if name and user is None:
            self.add_error("username", "There is no such user.")
        data["user_id"] = user and user.pk
        return data
