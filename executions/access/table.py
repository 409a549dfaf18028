"""The table of who may do what: roles, finer permissions, permissions on one workflow."""

from enum import StrEnum

from executions.states import Permission, Role


class Action(StrEnum):
    """What can be done in a workspace."""

    VIEW = "view"
    TRIGGER = "trigger"
    TELL = "tell"  # publish events
    RUN = "run"  # act as a remote runner
    AUTHOR = "author"
    DELETE = "delete"
    OPERATE = "operate"
    ADMINISTER = "administer"


Power = Action | Permission

# A role allows these on everything of its workspace.
ALLOWED: dict[str, frozenset[Action]] = {
    Role.ADMIN: frozenset(Action),
    Role.WORKFLOW: frozenset(Action) - {Action.ADMINISTER, Action.RUN},
    Role.SYSTEM: frozenset({Action.TRIGGER, Action.TELL, Action.RUN}),
    Role.USER: frozenset(),
}
# And includes these finer permissions.
INCLUDED: dict[str, frozenset[Permission]] = {
    Role.ADMIN: frozenset(Permission),
    Role.WORKFLOW: frozenset(Permission) - {Permission.REVEAL, Permission.CONFIGURE},
    Role.SYSTEM: frozenset(),
    Role.USER: frozenset(),
}
# Django's permissions on one workflow, and what they allow on it and on all that it ran.
OBJECT_PERMISSIONS: dict[str, frozenset[Action]] = {
    "read_workflow": frozenset({Action.VIEW}),
    "write_workflow": frozenset({Action.AUTHOR, Action.OPERATE}),
    "execute_workflow": frozenset({Action.TRIGGER}),
    "delete_workflow": frozenset({Action.DELETE}),
}
# What an API token can be limited to.
SCOPES: tuple[str, ...] = tuple(sorted([*Action, *Permission.values]))


def roles_with(power: Power) -> list[str]:
    """The roles that allow `power`, sorted."""
    return sorted(role for role in ALLOWED if power in ALLOWED[role] | INCLUDED[role])
