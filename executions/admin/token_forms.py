"""What is asked for a new API token."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from executions.access import Action
from executions.accounts import tokens
from executions.accounts.standing import seen_workspaces
from executions.database.clock import database_now
from executions.models import Workspace
from executions.states import Permission

ACTIONS = {
    Action.ADMINISTER: "members, service accounts, tokens",
    Action.AUTHOR: "write and publish workflows",
    Action.DELETE: "put workflows away",
    Action.OPERATE: "pause, cancel, roll back, decide",
    Action.RUN: "work as a remote runner",
    Action.TELL: "publish events",
    Action.TRIGGER: "start workflows",
    Action.VIEW: "see workflows and executions",
}
EXPLAINED = [
    *((action.value, f"{action.value}: {text}") for action, text in ACTIONS.items()),
    *((p.value, f"{p.value}: {p.label}") for p in Permission),
]


class TokenForm(BaseDialogForm):
    """A token's name, time and scopes."""

    name = forms.CharField(
        max_length=80,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="What it is for: the activity log names it.",
    )
    scopes = forms.MultipleChoiceField(
        choices=EXPLAINED,
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="None: all that its user may do now.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The page below the dialog has a field called name as well: labels need ids of their own.
        super().__init__(*args, **kwargs | {"auto_id": "token_%s"})
        self.fields["days"] = forms.IntegerField(
            min_value=1,
            max_value=tokens.longest().days,
            initial=tokens.usual().days,
            widget=UnfoldAdminIntegerFieldWidget(),
            help_text=f"After so many days it expires; {tokens.longest().days} at most.",
        )
        self.order_fields(("name", "workspace", "days", "scopes"))

    def clean(self) -> dict[str, Any]:
        """Say who makes it, since it may have no more scopes than they."""
        data = super().clean() or {}
        return {**data, "maker": self.request.user}


class OwnTokenForm(TokenForm):
    """A token of the person who makes it."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(), empty_label=None, widget=UnfoldAdminSelectWidget()
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        workspace: Any = self.fields["workspace"]
        rows = seen_workspaces(self.request.user)[0]
        workspace.queryset = rows.filter(archived_at=None).order_by("slug")


def options_of(data: Any) -> dict[str, Any]:
    """What `create_token` takes of a form's answers."""
    longest = database_now() + tokens.longest()
    until: datetime = database_now() + timedelta(days=data["days"])
    return {
        "name": data["name"],
        "scopes": data["scopes"] or None,
        "expires_at": min(until, longest),
        "maker": data["maker"],
    }
