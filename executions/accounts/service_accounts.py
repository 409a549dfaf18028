"""Accounts of programs, each in one workspace; the programs sign in only with API tokens.

The account's user has no password and no access to the admin; the user's membership has the role.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import IntegrityError, models

from executions.access.actor import Actor
from executions.access.people import has_column
from executions.accounts.audit import audit
from executions.accounts.errors import Taken
from executions.accounts.members import check_role
from executions.admission.capacity import lock_workspace
from executions.database import accounts, transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import NotFound, WithProblems
from executions.models import ApiToken, Membership, ServiceAccount, Workspace
from executions.states import Role

MAX_USERNAME = 150
# A domain that cannot exist (RFC 2606), so that no mail is ever sent to a program.
NOWHERE = "valkyr.invalid"


def create_service_account(
    workspace: Workspace,
    *,
    name: str,
    actor: Actor,
    description: str = "",
    role: str = Role.SYSTEM,
    permissions: Collection[str] = (),
) -> ServiceAccount:
    """Create an account with its user and membership.

    Raises Taken for an existing name in the workspace, and WithProblems for a name that is too
    long, an unknown role or permission, or an account model with other required fields.
    """
    check_role(role, permissions)
    username = username_of(workspace, name)
    try:
        with transaction.atomic():
            user = program_user(username)
            now = database_now()
            account = ServiceAccount.objects.create(
                workspace=workspace, user=user, name=name, description=description, created_at=now
            )
            Membership.objects.create(
                workspace=workspace,
                user=user,
                role=role,
                permissions=sorted(set(permissions)),
                created_at=now,
            )
            audit(actor, "service_account.create", account, after=facts(account))
    except IntegrityError:
        raise _taken(workspace, name) from None
    return account


def change_service_account(
    account_id: UUID, changes: Mapping[str, Any], *, actor: Actor, reason: str = ""
) -> ServiceAccount:
    """Change an account's name, description, role, permissions or `enabled`, effective immediately.

    Raises NotFound, and Taken and WithProblems like `create_service_account`.
    """
    check_role(changes.get("role", Role.SYSTEM), changes.get("permissions", ()))
    with transaction.atomic():
        account = _locked(account_id)
        before = facts(account)
        _rename(account, changes.get("name", account.name))
        account.description = changes.get("description", account.description)
        _enable(account, changes.get("enabled", account.disabled_at is None))
        membership = membership_of(account)
        membership.role = changes.get("role", membership.role)
        membership.permissions = sorted(set(changes.get("permissions", membership.permissions)))
        membership.save(update_fields=["role", "permissions"])
        account.save(update_fields=["name", "description", "disabled_at"])
        after = facts(account)
        if after != before:
            action = "service_account.update"
            audit(actor, action, account, before=before, after=after, reason=reason)
    return account


def disable_service_account(account_id: UUID, *, actor: Actor, reason: str = "") -> ServiceAccount:
    """Disable the account and all its tokens immediately; delete no row. Raises NotFound."""
    return change_service_account(account_id, {"enabled": False}, actor=actor, reason=reason)


def membership_of(account: ServiceAccount) -> Membership:
    """Return the account's membership; if it was deleted, create one (USER, no permissions)."""
    return Membership.objects.get_or_create(
        user_id=account.user_id, workspace_id=account.workspace_id
    )[0]


def program_user(username: str) -> Any:
    """Create an account without a password. Raises WithProblems if the model requires other fields.

    Uses `save`, because a project can define the manager's `create_user` with other arguments.
    """
    model = get_user_model()
    user = model(**_name_fields(username))
    user.set_unusable_password()
    wanted = [
        name
        for name in model.REQUIRED_FIELDS
        if (field := model._meta.get_field(name)).concrete
        and not (field.null or field.has_default() or _has_text(user, field))
    ]
    if wanted:
        message = (
            f"An account of {model._meta.label} needs {', '.join(wanted)}, which a program "
            "does not have. Make the field nullable, or give it a default."
        )
        raise WithProblems("Not valid: name.", [DefinitionProblem("name", "user_model", message)])
    user.save(force_insert=True)
    return user


def _has_text(user: Any, field: Any) -> bool:
    """Return whether the field is a text field that may be empty or already has a value."""
    return isinstance(field, models.CharField) and (field.blank or bool(getattr(user, field.name)))


def _name_fields(username: str) -> dict[str, str]:
    """Return the values of an account's user name and of its unique text fields."""
    model = get_user_model()
    fields = {model.USERNAME_FIELD: username}
    for field in model._meta.concrete_fields:
        if field.unique and isinstance(field, models.CharField) and not field.primary_key:
            fields.setdefault(field.name, username)
    address = f"{username.replace(':', '.')}@{NOWHERE}"
    for name in fields:
        if isinstance(model._meta.get_field(name), models.EmailField):
            fields[name] = address
    return fields


def username_of(workspace: Workspace, name: str) -> str:
    """Return the user name of a service account. Raises WithProblems if it is too long."""
    username = f"service:{workspace.slug}:{name}"
    field = get_user_model()._meta.get_field(get_user_model().USERNAME_FIELD)
    longest = min(getattr(field, "max_length", None) or MAX_USERNAME, MAX_USERNAME)
    if isinstance(field, models.EmailField):
        longest -= len(NOWHERE) + 1
    if len(username) > longest:
        most = longest - len(username) + len(name)
        message = f"In this workspace, a name has at most {most} characters; found {len(name)}."
        raise WithProblems("Not valid: name.", [DefinitionProblem("name", "max_length", message)])
    return username


def facts(account: ServiceAccount) -> dict[str, Any]:
    """Return an account's values for the audit trail."""
    membership = membership_of(account)
    return {
        "name": account.name,
        "description": account.description,
        "role": str(membership.role),
        "permissions": list(membership.permissions),
        "enabled": account.disabled_at is None,
    }


def _rename(account: ServiceAccount, name: str) -> None:
    if name == account.name:
        return
    username = username_of(account.workspace, name)
    fields = _name_fields(username)
    user = accounts.original(account.user)
    for field, value in fields.items():
        setattr(user, field, value)
    try:
        with transaction.atomic():
            user.save(update_fields=list(fields))
    except IntegrityError:
        raise _taken(account.workspace, name) from None
    account.name = name


def _enable(account: ServiceAccount, enabled: bool) -> None:
    if enabled == (account.disabled_at is None):
        return
    account.disabled_at = None if enabled else database_now()
    if has_column("is_active"):
        user = accounts.original(account.user)
        user.is_active = enabled
        user.save(update_fields=["is_active"])
    elif not enabled:
        # Without the column `is_active`, an account is disabled by revoking its API tokens.
        tokens = ApiToken.objects.filter(user_id=account.user_id, revoked_at=None)
        tokens.update(revoked_at=ClockTimestamp())


def _locked(account_id: UUID) -> ServiceAccount:
    rows = ServiceAccount.objects.select_related("user", "workspace").filter(pk=account_id)
    account = rows.first()
    if account is None:
        raise NotFound(f"There is no service account {account_id}.")
    lock_workspace(account.workspace_id)
    return rows.get()


def _taken(workspace: Workspace, name: str) -> Taken:
    return Taken(
        f"Workspace {workspace.slug!r} already has a service account {name!r}. Choose another name."
    )
