"""Why somebody may not do something."""

from executions.access.table import Power, roles_with
from executions.errors import ValkyrError
from executions.states import Permission


class Forbidden(ValkyrError):
    """Your role in this workspace does not allow that."""

    code = "forbidden"


class AmbiguousWorkspace(ValkyrError):
    """You are in several workspaces; say which one with workspaceId."""

    code = "workspace_required"


def refused(role: str | None, power: Power, *, limited: bool = False) -> Forbidden:
    """The refusal that says what would be needed; `limited`: an API token's scopes forbid it."""
    if limited:
        return Forbidden(
            f"This API token's scopes do not include {power.value}. Use one that does."
        )
    needed = " or ".join(roles_with(power))
    have = f"Your role here is {role or 'none'}"
    if isinstance(power, Permission):
        return Forbidden(
            f"{have}, without the permission {power.value} ({power.label}). You need the role "
            f"{needed}, or that permission. Ask an administrator of the workspace."
        )
    return Forbidden(
        f"{have}; to {power.value} you need {needed}. Ask an administrator of the workspace."
    )
