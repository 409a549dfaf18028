"""Members of a workspace: their roles and additional permissions.

Users cannot remove a workspace's last active ADMIN. The workspace is locked while a user changes a
membership, so that two administrators cannot demote each other at the same time.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from executions.access.actor import Actor
from executions.access.people import has_column
from executions.accounts.audit import audit
from executions.accounts.errors import LastAdministrator, Taken
from executions.admission.capacity import lock_workspace
from executions.database import row_scope, transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import NotFound, WithProblems, WrongState
from executions.models import (
    ApiToken,
    Membership,
    ServiceAccount,
    WorkflowUserPermission,
    Workspace,
)
from executions.states import Permission, Role


def add_member(
    workspace: Workspace,
    user: Any,
    *,
    role: str,
    actor: Actor,
    permissions: Collection[str] = (),
    reason: str = "",
) -> Membership:
    """Make a user a member with a role, effective immediately.

    Raises Taken for an existing member. Raises WithProblems for an unknown role or permission, and
    for a service account, which belongs only to its own workspace.
    """
    check_role(role, permissions)
    with row_scope.limited(None):  # to find service accounts of all workspaces
        is_program = ServiceAccount.objects.filter(user=user).exists()
    if is_program:
        message = (
            f"{user.get_username()!r} is a service account, which belongs to one workspace only."
        )
        raise WithProblems(
            "Not valid: userId.", [DefinitionProblem("userId", "service_account", message)]
        )
    membership = Membership(
        workspace=workspace,
        user=user,
        role=role,
        permissions=_sorted(permissions),
        created_at=database_now(),
    )
    try:
        with transaction.atomic():
            membership.save(force_insert=True)
            audit(actor, "membership.create", membership, after=facts(membership), reason=reason)
    except IntegrityError:
        raise Taken(
            f"{user.get_username()!r} is already a member of workspace {workspace.slug!r}. Change "
            "that membership instead."
        ) from None
    return membership


def change_member(
    membership_id: UUID,
    *,
    actor: Actor,
    role: str | None = None,
    permissions: Collection[str] | None = None,
    reason: str = "",
) -> Membership:
    """Change a member's role or permissions, effective from the next request.

    Raises NotFound, LastAdministrator, and WithProblems for an unknown role or permission.
    """
    check_role(role or Role.USER, permissions or ())
    with transaction.atomic():
        membership = locked(membership_id)
        before = facts(membership)
        if role is not None and role != membership.role:
            keep_administered(membership)
            # The role is now set by hand, so the identity provider no longer changes it.
            membership.role, membership.source = role, ""
        if permissions is not None:
            membership.permissions = _sorted(permissions)
        if facts(membership) != before:
            membership.save(update_fields=["role", "permissions", "source"])
            after = facts(membership)
            audit(actor, "membership.update", membership, before=before, after=after, reason=reason)
    return membership


def remove_member(membership_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Remove a user from a workspace, and revoke the user's tokens and shares in it.

    Raises NotFound, LastAdministrator, and WrongState for a service account's membership.
    """
    with transaction.atomic():
        membership = locked(membership_id)
        if ServiceAccount.objects.filter(user_id=membership.user_id).exists():
            raise WrongState(
                f"{membership.user.get_username()!r} is a service account. Disable it instead.",
                "SERVICE_ACCOUNT",
            )
        keep_administered(membership)
        _delete(membership, actor, reason)


def _delete(membership: Membership, actor: Actor, reason: str) -> None:
    """Delete a membership and the user's shares, revoke the tokens, and write the audit row."""
    # The membership is deleted first: `grants.give` locks it, so no share can be added afterwards.
    Membership.objects.filter(pk=membership.pk).delete()
    tokens = ApiToken.objects.filter(
        user_id=membership.user_id, workspace_id=membership.workspace_id, revoked_at=None
    )
    revoked = tokens.update(revoked_at=ClockTimestamp())
    shares, _ = WorkflowUserPermission.objects.filter(
        user_id=membership.user_id, content_object__workspace_id=membership.workspace_id
    ).delete()
    lost = {name: number for name, number in (("tokens", revoked), ("shares", shares)) if number}
    audit(actor, "membership.delete", membership, before=facts(membership) | lost, reason=reason)


def locked(membership_id: UUID) -> Membership:
    """Return a membership with its user, and lock its workspace. Raises NotFound."""
    workspace_ids = Membership.objects.filter(pk=membership_id)
    workspace_id = workspace_ids.values_list("workspace_id", flat=True).first()
    membership = None
    if workspace_id is not None:
        lock_workspace(workspace_id)
        rows = Membership.objects.select_related("user", "workspace")
        membership = rows.filter(pk=membership_id).first()
    if membership is None:
        raise NotFound(f"There is no membership {membership_id}.")
    return membership


def keep_administered(membership: Membership) -> None:
    """Raise LastAdministrator if the workspace would lose its last active ADMIN.

    The caller holds the workspace's lock.
    """
    people = administrators(membership.workspace_id)
    if people.filter(pk=membership.pk).exists() and people.count() == 1:
        raise LastAdministrator(
            f"{membership.user.get_username()!r} is the last ADMIN of workspace "
            f"{membership.workspace.slug!r}. Give another member that role first."
        )


def administrators(workspace_id: UUID) -> Any:
    """Return the memberships of a workspace's active administrators, except service accounts."""
    people = Membership.objects.filter(
        workspace_id=workspace_id, role=Role.ADMIN, user__valkyr_service_account=None
    )
    return people.filter(user__is_active=True) if has_column("is_active") else people


def check_role(role: str, permissions: Collection[str]) -> None:
    """Raise WithProblems for an unknown role or permission."""
    found = []
    if role not in Role.values:
        message = f"There is no role {role!r}; expected one of: {', '.join(Role.values)}."
        found.append(DefinitionProblem("role", "unknown_role", message))
    for unknown in sorted(set(permissions) - set(Permission.values)):
        message = (
            f"There is no permission {unknown!r}; expected some of: {', '.join(Permission.values)}."
        )
        found.append(DefinitionProblem("permissions", "unknown_permission", message))
    if found:
        raise WithProblems("The membership is not valid.", found)


def facts(membership: Membership) -> dict[str, Any]:
    """Return a membership's values for the audit trail."""
    return {
        "user": membership.user.get_username(),
        "role": str(membership.role),
        "permissions": list(membership.permissions),
    }


def _sorted(permissions: Collection[str]) -> list[str]:
    return sorted(set(permissions))


# Memberships controlled by another system, such as an identity provider through groups.
#
# `source` names that system. A membership without a source was granted by hand and is not changed.


# Users with one of these roles in any workspace may use the admin.
AT_A_DESK = (Role.ADMIN, Role.WORKFLOW)


def follow(
    user: Any, roles: Mapping[str, str], source: str, *, actor: Actor, reason: str
) -> set[str]:
    """Make the user's memberships from other systems equal to `roles`, keyed by workspace slug.

    Returns the slugs of workspaces that do not exist or are archived. Memberships that users
    granted stay unchanged. Unlike a user, another system may remove a workspace's last ADMIN,
    because a user who left must not keep access. The caller's transaction has locked the user's
    row.
    """
    held = {
        row.workspace_id: row for row in user.valkyr_memberships.select_related("workspace", "user")
    }
    opened = any(row.source and row.role in AT_A_DESK for row in held.values())
    found = list(Workspace.objects.filter(slug__in=roles, archived_at=None))
    wanted = {row.pk: (row, roles[row.slug]) for row in found}
    for row in held.values():
        if row.source and row.workspace_id not in wanted:
            _delete(row, actor, reason)
    for workspace, role in wanted.values():
        membership = held.get(workspace.pk)
        if membership is None:
            made = Membership.objects.create(
                user=user, workspace=workspace, role=role, source=source
            )
            audit(actor, "membership.create", made, after=facts(made), reason=reason)
        elif membership.source and (membership.role, membership.source) != (role, source):
            _move(membership, role, source, actor, reason)
    _open_the_admin(user, opened=opened)
    return set(roles) - {workspace.slug for workspace in found}


def _move(membership: Membership, role: str, source: str, actor: Actor, reason: str) -> None:
    before = facts(membership)
    membership.role, membership.source = role, source
    membership.save(update_fields=["role", "source"])
    after = facts(membership)
    if after != before:
        audit(actor, "membership.update", membership, before=before, after=after, reason=reason)


def _open_the_admin(user: Any, *, opened: bool) -> None:
    """Allow superusers, and users with a role that needs it, to open the admin.

    `opened` says that a role from another system needed the access until now. Only then is the
    access withdrawn if no role needs it any longer.
    """
    if not has_column("is_staff"):
        return
    desk = user.valkyr_memberships.filter(role__in=AT_A_DESK).exists()
    staff = desk or getattr(user, "is_superuser", False) or (user.is_staff and not opened)
    if staff != user.is_staff:
        user.is_staff = staff
        user.save(update_fields=["is_staff"])
