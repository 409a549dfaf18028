"""Memberships follow the provider's groups; what somebody gave by hand stays as it is."""

import logging
from collections.abc import Mapping
from typing import Any

from executions.access.actor import Actor, record
from executions.accounts.members import facts
from executions.models import Membership, Workspace
from executions.states import Role

log = logging.getLogger(__name__)
# Who holds one of these somewhere works in the admin.
AT_A_DESK = (Role.ADMIN, Role.WORKFLOW)


def follow(user: Any, roles: Mapping[str, str], issuer: str, actor: Actor) -> None:
    """Make the user's memberships from the provider those of `roles` (by workspace slug).

    A membership without a source was given by hand and is neither raised, lowered nor taken.
    Unlike people, the provider may take a workspace's last ADMIN: who left must not stay for that.
    Call it in a transaction that holds the user's row.
    """
    held = {row.workspace_id: row for row in user.memberships.select_related("workspace", "user")}
    wanted = {row.pk: (row, roles[row.slug]) for row in _workspaces(roles)}
    for row in held.values():
        if row.source and row.workspace_id not in wanted:
            _end(row, actor)
    for workspace, role in wanted.values():
        membership = held.get(workspace.pk)
        if membership is None:
            _begin(user, workspace, role, issuer, actor)
        elif membership.source and (membership.role, membership.source) != (role, issuer):
            _move(membership, role, issuer, actor)
    _open_the_admin(user, lost=any(row.source for row in held.values()))


def _workspaces(roles: Mapping[str, str]) -> list[Workspace]:
    found = list(Workspace.objects.filter(slug__in=roles, archived_at=None))
    for slug in sorted(set(roles) - {workspace.slug for workspace in found}):
        log.warning("VALKYR_OIDC_ROLES names the workspace %r, but there is none to join.", slug)
    return found


def _begin(user: Any, workspace: Workspace, role: str, issuer: str, actor: Actor) -> None:
    made = Membership.objects.create(user=user, workspace=workspace, role=role, source=issuer)
    _note(actor, "membership.create", made, after=facts(made))


def _move(membership: Membership, role: str, issuer: str, actor: Actor) -> None:
    before = facts(membership)
    membership.role, membership.source = role, issuer
    membership.save(update_fields=["role", "source"])
    if facts(membership) != before:
        _note(actor, "membership.update", membership, before=before, after=facts(membership))


def _end(membership: Membership, actor: Actor) -> None:
    _note(actor, "membership.delete", membership, before=facts(membership))
    membership.delete()


def _open_the_admin(user: Any, *, lost: bool) -> None:
    """The admin is for those with a desk; who was given it by hand keeps it."""
    desk = user.memberships.filter(role__in=AT_A_DESK).exists()
    staff = desk or user.is_superuser or (user.is_staff and not lost)
    if staff != user.is_staff:
        user.is_staff = staff
        user.save(update_fields=["is_staff"])


def _note(actor: Actor, action: str, membership: Membership, **changes: Any) -> None:
    record(
        actor,
        action,
        workspace_id=membership.workspace_id,
        object_type="Membership",
        object_id=membership.pk,
        reason="the groups that the identity provider named at sign-in",
        **changes,
    )
