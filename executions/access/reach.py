"""How far one caller's powers reach: over whole workspaces by role, over single workflows by grant.

An object permission counts only for members of the workflow's workspace, whatever their role: who
leaves the workspace has nothing left in it.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.access.powers import Powers, User, holdings, limits_of
from executions.access.table import OBJECT_PERMISSIONS, Action, Power
from executions.states import Permission


@dataclass(frozen=True, slots=True)
class Reach:
    """The caller's powers by workspace, and object permissions by workflow."""

    user: User
    members: dict[UUID, Powers]
    grants: dict[UUID, set[str]]

    def workspaces(self, power: Power) -> list[UUID]:
        """The workspaces in which the caller may do `power` to everything, sorted."""
        return sorted(pk for pk, powers in self.members.items() if powers.allows(power))

    def workflows(self, power: Power) -> list[UUID]:
        """The workflows that an object permission opens for `power`."""
        limits = limits_of(self.user)
        if not self.grants or (limits is not None and power not in limits.scopes):
            return []
        wanted: Any = power
        if isinstance(power, Permission):
            person: Any = self.user
            if not person.has_perm(f"executions.{power.value}"):
                return []
            wanted = Action.VIEW
        codes = {code for code, actions in OBJECT_PERMISSIONS.items() if wanted in actions}
        return [pk for pk, given in self.grants.items() if given & codes]

    def anywhere(self, power: Power) -> bool:
        """Whether there is anything at all that the caller may do `power` to."""
        return bool(self.workspaces(power) or self.workflows(power))


def reach_of(user: User) -> Reach:
    """The caller's reach. One query."""
    return Reach(user, *holdings(user))
