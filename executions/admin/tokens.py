"""API tokens: the user's own, and those of administered workspaces. A new token is shown once."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.people import name_path
from executions.access.powers import Power
from executions.accounts import tokens
from executions.accounts.caller_permissions import seen_workspaces
from executions.admin import marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.operations import AdminOperation, ReasonForm
from executions.admin.scope import is_superuser, may
from executions.admin.sections import Page, facts
from executions.admin.skin import (
    ActionVariant,
    CheckboxSelectMultiple,
    DialogForm,
    IntegerInput,
    Select,
    TextInput,
    dialog,
    display,
)
from executions.database.clock import database_now
from executions.errors import ValkyrError, WithProblems
from executions.language import lazy
from executions.models import ApiToken, Workspace
from executions.states import Permission

ACTIONS = {
    Action.ADMINISTER: lazy("manage the workspace, its members, service accounts and tokens"),
    Action.AUTHOR: lazy("write and publish workflows"),
    Action.DELETE: lazy("archive workflows"),
    Action.OPERATE: lazy(
        "pause, cancel and roll back executions, decide approvals, triage failures"
    ),
    Action.RUN: lazy("work as a remote runner"),
    Action.TELL: lazy("publish events"),
    Action.TRIGGER: lazy("start workflows"),
    Action.VIEW: lazy("view workflows and executions"),
}
EXPLAINED = [
    *((action.value, f"{action.value}: {text}") for action, text in ACTIONS.items()),
    *((p.value, f"{p.value}: {p.label}") for p in Permission),
]


class TokenForm(DialogForm):
    """The form of a new token: its name, its lifetime in days and its scopes."""

    name = forms.CharField(
        max_length=80,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("A name that identifies the token in the activity log."),
        label=lazy("Name"),
    )
    scopes = forms.MultipleChoiceField(
        choices=EXPLAINED,
        required=False,
        widget=CheckboxSelectMultiple(),
        help_text=lazy("If you select none, the token gets all current permissions of its user."),
        label=lazy("Scopes"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Distinct element IDs, because the page behind the dialog also has a field `name`.
        super().__init__(*args, **kwargs | {"auto_id": "token_%s"})
        self.fields["days"] = forms.IntegerField(
            label=gettext("Days"),
            min_value=1,
            max_value=tokens.longest().days,
            initial=tokens.usual().days,
            widget=IntegerInput(),
            help_text=gettext("Lifetime in days, at most {days}.").format(
                days=tokens.longest().days
            ),
        )
        self.order_fields(("name", "workspace", "days", "scopes"))

    def clean(self) -> dict[str, Any]:
        """Return the values and, as `maker`, the user, whose permissions limit the token."""
        data = super().clean() or {}
        return {**data, "maker": self.request.user}


class OwnTokenForm(TokenForm):
    """The form with which a user creates a token of their own for one workspace."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(), empty_label=None, widget=Select(), label=lazy("Workspace")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        workspace: Any = self.fields["workspace"]
        rows = seen_workspaces(self.request.user)[0]
        workspace.queryset = rows.filter(archived_at=None).order_by("slug")


def options_of(data: Any) -> dict[str, Any]:
    """Return the arguments of `create_token` from a form's values."""
    longest = database_now() + tokens.longest()
    until: datetime = database_now() + timedelta(days=data["days"])
    return {
        "name": data["name"],
        "scopes": data["scopes"] or None,
        "expires_at": min(until, longest),
        "maker": data["maker"],
    }


class RevokeForm(ReasonForm):
    """Asks for a reason, and records the user who revokes the token."""

    def clean(self) -> dict[str, Any]:
        """Add the user who revokes the token to the form's values."""
        return {**(super().clean() or {}), "maker": self.request.user}


def _revoke(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> ApiToken:
    return tokens.revoke_token(pk, actor=actor, maker=data["maker"], reason=data["reason"])


REVOKE = AdminOperation(
    Operation(
        name="revoke",
        apply=_revoke,
        needs=Action.ADMINISTER,
        refuse=lambda row: gettext("Already revoked.") if row.revoked_at else "",
    ),
    title=lazy("Revoke…"),
    icon="key_off",
    done=lazy("revoked"),
    question=lazy("The token stops working immediately. You cannot undo this."),
    form=RevokeForm,
    danger=True,
)


def standing(token: ApiToken) -> Any:
    """Return a mark that says whether the token is valid, or why it is not accepted."""
    if token.revoked_at is not None:
        return marks.mark(gettext("revoked"), "key_off", "grey")
    if token.expires_at is not None and token.expires_at <= timezone.now():
        return marks.mark(gettext("expired"), "timer_off", "grey")
    if not token.user.is_active:
        return marks.mark(gettext("account disabled"), "person_off", "grey")
    return marks.mark(gettext("valid"), "key", "green")


@admin.register(ApiToken)
class ApiTokenAdmin(OperatingAdmin, FactAdmin):
    """API tokens, with which programs sign in."""

    sensitive = True
    operations = (REVOKE,)
    actions_list: ClassVar[Any] = ("make",)
    list_display = ("name", "user", "workspace", "mark", "expires", "used", "scope_names")
    list_select_related = ("user", "workspace")
    ordering = ("-id",)
    search_ids = ("id",)
    search_texts = ("name", "prefix", name_path())
    empty_text = lazy("No API tokens. Create one for each program with “New token…”.")

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the user's tokens and those of administered workspaces; superusers get all."""
        if is_superuser(request):
            return rows
        return rows.filter(pk__in=tokens.visible_tokens(request.user).values("pk"))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow users to see their own tokens, and administrators those of their workspaces."""
        if obj is None or is_superuser(request) or obj.user_id == request.user.pk:
            return True
        return may(request, obj, Action.ADMINISTER)

    def has_make_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow all users to create tokens with at most their own permissions."""
        return True

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Allow every user who sees a token to revoke it."""
        return self.has_view_permission(request, row)

    def make(self, request: HttpRequest) -> HttpResponse:
        """Show the dialog that creates a user's own token, and show the token once."""
        form = OwnTokenForm(data=request.POST or None, request=request)
        context: dict[str, Any] = {"form": form, "dialog": DIALOG}
        if request.method == "POST" and form.is_valid():
            text = _made(request, form)
            if text:
                context["shown"] = once(text)
        return dialog(self, request, context)

    make.__dict__.update(
        {
            "allowed_permissions": ("make",),
            "short_description": lazy("New token…"),
            "url_path": "make",
            "icon": "add",
            "dialog": {"title": lazy("New token…")},
            "variant": ActionVariant.PRIMARY,
            "attrs": {},
        }
    )

    @display(description=lazy("state"))
    def mark(self, row: ApiToken) -> Any:
        """Return a mark that says whether the token is accepted; see `standing`."""
        return standing(row)

    @display(description=lazy("expires"))
    def expires(self, row: ApiToken) -> Any:
        """Return the time until the token expires."""
        return marks.ago(row.expires_at)

    @display(description=lazy("last used"))
    def used(self, row: ApiToken) -> Any:
        """Return the time since the token was last used, or "never"."""
        return marks.ago(row.last_used_at) if row.last_used_at else gettext("never")

    @display(description=lazy("scopes"))
    def scope_names(self, row: ApiToken) -> str:
        """Return the token's scopes."""
        return marks.clipped(", ".join(row.scopes), 60)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a token, without its text."""
        return Page(
            [standing(obj)],
            facts(
                [
                    (gettext("Name"), obj.name),
                    (gettext("Begins with"), obj.prefix),
                    (gettext("User"), obj.user.get_username()),
                    (gettext("Workspace"), str(obj.workspace)),
                    (gettext("Created"), marks.ago(obj.created_at)),
                    (gettext("Created by"), obj.created_by),
                    (gettext("Expires"), marks.ago(obj.expires_at)),
                    (gettext("Revoked"), marks.ago(obj.revoked_at)),
                    (gettext("Last used"), self.used(obj)),
                    (gettext("Last used from"), obj.last_used_from),
                    (gettext("Scopes"), ", ".join(obj.scopes)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
        )


DIALOG = {
    "title": lazy("New API token"),
    "description": lazy(
        "The token acts as you in one workspace, within its scopes. It is shown only once."
    ),
    "form_submit_text": lazy("Create token"),
}


def once(text: str) -> Any:
    """Return a new token's text, shown once, with a copy button and instructions."""
    return format_html(gettext("{}<br>Copy it now. It is not shown again."), marks.copyable(text))


def _made(request: HttpRequest, form: Any) -> str:
    """Return the new token's text; "" after an error, which is then added to the form."""
    data = form.cleaned_data
    try:
        return tokens.create_token(
            data["workspace"], request.user, actor=Actor.of_request(request), **options_of(data)
        )[1]
    except ValkyrError as error:
        found = error.problems if isinstance(error, WithProblems) else []
        form.add_error(None, " ".join(problem.message for problem in found) or error.message)
        return ""
