"""Memberships that another system decides, such as an identity provider by a person's groups.

`source` names that system. A membership without a source was given by hand and stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from executions.access.actor import Actor
from executions.accounts.audit import audit
from executions.accounts.members import facts
from executions.models import Membership, Workspace
from executions.states import Role

# Who holds one of these somewhere works in the admin.
AT_A_DESK = (Role.ADMIN, Role.WORKFLOW)


def follow(
    user: Any, roles: Mapping[str, str], source: str, *, actor: Actor, reason: str
) -> set[str]:
    """Make the user's memberships from other systems those of `roles` (by workspace slug).

    Returns the slugs of which there is no workspace to join. A membership that was given by hand is
    neither raised, lowered nor taken. Unlike people, another system may take a workspace's last
    ADMIN: who left must not stay for that. Call it in a transaction that holds the user's row.
    """
    held = {row.workspace_id: row for row in user.memberships.select_related("workspace", "user")}
    found = list(Workspace.objects.filter(slug__in=roles, archived_at=None))
    wanted = {row.pk: (row, roles[row.slug]) for row in found}
    for row in held.values():
        if row.source and row.workspace_id not in wanted:
            audit(actor, "membership.delete", row, before=facts(row), reason=reason)
            row.delete()
    for workspace, role in wanted.values():
        membership = held.get(workspace.pk)
        if membership is None:
            made = Membership.objects.create(
                user=user, workspace=workspace, role=role, source=source
            )
            audit(actor, "membership.create", made, after=facts(made), reason=reason)
        elif membership.source and (membership.role, membership.source) != (role, source):
            _move(membership, role, source, actor, reason)
    _open_the_admin(user, lost=any(row.source for row in held.values()))
    return set(roles) - {workspace.slug for workspace in found}


def _move(membership: Membership, role: str, source: str, actor: Actor, reason: str) -> None:
    before = facts(membership)
    membership.role, membership.source = role, source
    membership.save(update_fields=["role", "source"])
    after = facts(membership)
    if after != before:
        audit(actor, "membership.update", membership, before=before, after=after, reason=reason)


def _open_the_admin(user: Any, *, lost: bool) -> None:
    """The admin is for those with a desk; who was given it by hand keeps it."""
    desk = user.memberships.filter(role__in=AT_A_DESK).exists()
    staff = desk or user.is_superuser or (user.is_staff and not lost)
    if staff != user.is_staff:
        user.is_staff = staff
        user.save(update_fields=["is_staff"])
