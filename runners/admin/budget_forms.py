"""The forms of budgets: whose, for how long, how much, and what happens then."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from unfold.widgets import UnfoldAdminTextInputWidget

from runners.budgets.setting import FIELDS
from runners.models import Budget

HELP = {
    "period": "After what it begins anew: days and months in UTC.",
    "currency": "Three capitals, such as USD. Empty: the budget is one of tokens.",
    "amount": "Money, or a whole number of tokens.",
    "soft_percent": "At so much of it people are told. Empty: not at all.",
    "kill_switch": "Once it is spent, cancel what its spender has under way and start nothing.",
}


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """How much, and what happens when it is spent."""

    class Meta:
        model = Budget
        fields: tuple[str, ...] = FIELDS
        help_texts = HELP

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "amount" in self.initial:
            self.initial["amount"] = f"{self.initial['amount'].normalize():f}"


class NewBudgetForm(BudgetForm):
    """A workspace or a member to limit; the name is typed, so that nobody reads a list of all."""

    username = forms.CharField(
        max_length=150,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="A member's name. Empty: the budget is the whole workspace's.",
    )

    class Meta(BudgetForm.Meta):
        fields = ("workspace", "period", "currency", *FIELDS)

    def clean(self) -> dict[str, Any]:
        """Find the member."""
        data = super().clean() or {}
        name = data.get("username")
        user = get_user_model().objects.filter(username=name).first() if name else None
        if name and user is None:
            self.add_error("username", "There is no such user.")
        data["user_id"] = user and user.pk
        return data
