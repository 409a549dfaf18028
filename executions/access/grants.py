"""Grant and revoke object permissions on one workflow, for users and groups.

Object permissions give members access to the workflow and its executions beyond their roles.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group, Permission

from executions.access.actor import Actor, record
from executions.access.people import name_path, person_named
from executions.database import alias, transaction
from executions.errors import NotFound
from executions.models import (
    Membership,
    Workflow,
    WorkflowGroupPermission,
    WorkflowUserPermission,
)

# Permission names as users see them, and Django's codenames.
NAMES: dict[str, str] = {
    "READ": "read_workflow",
    "WRITE": "write_workflow",
    "EXECUTE": "execute_workflow",
    "DELETE": "delete_workflow",
}
_CODES = {code: name for name, code in NAMES.items()}
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions of a user or group on a workflow: any of READ, WRITE, EXECUTE and DELETE."""

    username: str | None
    group: str | None
    permissions: list[str]


def grants_on(workflow: Workflow) -> list[Grant]:
    """Return the grants on the workflow: users first, then groups, each sorted by name.

    Reads at most `MOST` permissions of users and `MOST` of groups, in two queries.
    """
    people = WorkflowUserPermission.objects.filter(content_object=workflow)
    groups = WorkflowGroupPermission.objects.filter(content_object=workflow)
    code, name = "permission__codename", name_path()
    return [
        *_collected(people.order_by(name).values_list(name, code), "user"),
        *_collected(groups.order_by("group__name").values_list("group__name", code), "group"),
    ]


def give(
    workflow: Workflow,
    permissions: Collection[str],
    *,
    actor: Actor,
    username: str | None = None,
    group: str | None = None,
    reason: str = "",
) -> Grant:
    """Set the permissions of one user or group on the workflow; an empty set revokes all.

    Raises NotFound for a user who is not a member, or a group that does not exist.
    """
    with transaction.atomic():
        Workflow.objects.select_for_update(no_key=True).only("pk").get(pk=workflow.pk)
        rows, owner = _rows_of(workflow, username, group)
        before = sorted(_CODES[c] for c in rows.values_list("permission__codename", flat=True))
        wanted = {NAMES[name] for name in permissions}
        rows.exclude(permission__codename__in=wanted).delete()
        known = Permission.objects.using(alias()).filter(
            content_type__app_label=Workflow._meta.app_label, content_type__model="workflow"
        )
        model: Any = rows.model
        for permission in known.filter(codename__in=wanted):
            model.objects.get_or_create(permission=permission, content_object=workflow, **owner)
        after = [name for name in NAMES if NAMES[name] in wanted]
        record(
            actor,
            "workflow.share",
            workspace_id=workflow.workspace_id,
            object_type="Workflow",
            object_id=workflow.pk,
            reason=reason,
            before={"permissions": before},
            after={"permissions": after},
            details={"username": username} if username else {"group": group},
        )
    return Grant(username, group, after)


def _rows_of(workflow: Workflow, username: str | None, group: str | None) -> tuple[Any, Any]:
    if username is not None:
        found = person_named(username)
        # The lock makes a concurrent removal of the member wait, so that it also deletes the new
        # share.
        member = found is not None and Membership.objects.select_for_update(no_key=True).filter(
            user=found, workspace_id=workflow.workspace_id
        )
        if not member:
            raise NotFound(
                f"{username!r} is not a member of this workspace. Add the user first, for "
                "example with the role USER, which has no permissions."
            )
        return WorkflowUserPermission.objects.filter(content_object=workflow, user=found), {
            "user": found
        }
    known = Group.objects.filter(name=group).first()
    if known is None:
        raise NotFound(f"There is no group {group!r}.")
    return WorkflowGroupPermission.objects.filter(content_object=workflow, group=known), {
        "group": known
    }


def _collected(rows: Any, kind: str) -> list[Grant]:
    by_name: dict[str, set[str]] = {}
    for name, code in rows[:MOST]:
        by_name.setdefault(name, set()).add(_CODES.get(code, code))
    return [
        Grant(
            name if kind == "user" else None,
            name if kind == "group" else None,
            [each for each in NAMES if each in given],
        )
        for name, given in by_name.items()
    ]
