"""The admin pages of service accounts, for administrators of their workspaces."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.accounts import service_accounts as accounts
from executions.accounts import tokens
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import WritingAdmin
from executions.admin.members import ServiceAccountForm, role_mark
from executions.admin.operations import AdminOperation
from executions.admin.skin import display
from executions.admin.tokens import TokenForm, once, options_of
from executions.language import lazy
from executions.models import ServiceAccount


def _switch(enabled: bool) -> Callable[[UUID, Actor, Mapping[str, Any]], ServiceAccount]:
    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> ServiceAccount:
        changes = {"enabled": enabled}
        return accounts.change_service_account(pk, changes, actor=actor, reason=data["reason"])

    return apply


def _new_token(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    account = ServiceAccount.objects.select_related("user", "workspace").get(pk=pk)
    made = tokens.create_token(account.workspace, account.user, actor=actor, **options_of(data))
    return once(made[1])


NEW_TOKEN = AdminOperation(
    Operation(
        name="new_token",
        apply=_new_token,
        needs=Action.ADMINISTER,
        refuse=lambda row: (
            gettext("The account is disabled. Enable it first.") if row.disabled_at else ""
        ),
    ),
    title=lazy("New token…"),
    icon="key",
    done=lazy("token created"),
    question=lazy(
        "The token acts as this account, within its role and scopes. It is shown only once."
    ),
    form=TokenForm,
    primary=True,
    bulk=False,
    shows=lazy("The token"),
)
SWITCH_OFF = AdminOperation(
    Operation(
        name="switch_off",
        apply=_switch(False),
        needs=Action.ADMINISTER,
        refuse=lambda row: gettext("Already disabled.") if row.disabled_at else "",
    ),
    title=lazy("Disable…"),
    icon="toggle_off",
    done=lazy("disabled"),
    question=lazy("The account's tokens stop working immediately."),
    danger=True,
)
SWITCH_ON = AdminOperation(
    Operation(
        name="switch_on",
        apply=_switch(True),
        needs=Action.ADMINISTER,
        refuse=lambda row: "" if row.disabled_at else gettext("Already enabled."),
    ),
    title=lazy("Enable…"),
    icon="toggle_on",
    done=lazy("enabled"),
    question=lazy("The account's valid tokens work again."),
)


@admin.register(ServiceAccount)
class ServiceAccountAdmin(OperatingAdmin, WritingAdmin):
    """Programs that act in a workspace; they sign in only with API tokens."""

    sensitive = True
    form = ServiceAccountForm
    operations = (NEW_TOKEN, SWITCH_OFF, SWITCH_ON)
    list_display = ("name", "workspace", "state", "role", "tokens", "since")
    list_select_related = ("workspace", "user")
    search_ids = ("id",)
    search_texts = ("name", "workspace__slug")
    needs = Action.ADMINISTER
    empty_text = lazy(
        "No service accounts. Add one for each program that starts or runs workflows."
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        """Return the accounts with their memberships, which hold the accounts' roles."""
        return super().get_queryset(request).prefetch_related("user__valkyr_memberships")

    @display(description=lazy("state"))
    def state(self, row: ServiceAccount) -> Any:
        """Return a mark that says whether the account's tokens are accepted."""
        if row.disabled_at is None:
            return marks.mark(gettext("enabled"), "toggle_on", "green")
        return marks.mark(gettext("disabled"), "toggle_off", "grey")

    @display(description=lazy("role"))
    def role(self, row: ServiceAccount) -> Any:
        """Return the account's role as an icon and a word; a dash if there is no membership."""
        memberships: Any = row.user.valkyr_memberships
        membership = next(iter(memberships.all()), None)
        return marks.EMPTY if membership is None else role_mark(membership.role)

    @display(description=lazy("tokens"))
    def tokens(self, row: ServiceAccount) -> Any:
        """Return a link to the account's tokens."""
        return links.link(links.listing("executions_apitoken", user=row.user_id), gettext("tokens"))

    @display(description=lazy("created"))
    def since(self, row: ServiceAccount) -> Any:
        """Return the time since the account was created."""
        return marks.ago(row.created_at)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the form's fields; for an existing account, also its state and its tokens."""
        known = ("workspace", "name", "description", "role", "permissions")
        return known if obj is None else (*known, "state", "tokens")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the workspace of an existing account read-only."""
        return () if obj is None else ("workspace", "state", "tokens")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion: disable an account instead, so that the audit trail keeps its name."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> ServiceAccount:
        """Create or change the service account."""
        actor, data = Actor.of_request(request), dict(form.cleaned_data)
        if change:
            return accounts.change_service_account(obj.pk, data, actor=actor)
        workspace = data.pop("workspace")
        return accounts.create_service_account(workspace, actor=actor, **data)
