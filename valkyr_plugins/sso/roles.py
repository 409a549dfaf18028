"""From the groups of a token to roles in workspaces. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from valkyr_plugins.sso.configuration import ROLES, Grant


def groups_in(claims: Mapping[str, Any], claim: str) -> list[str]:
    """The groups that a claim lists, as a list or as one text; none where it is something else."""
    value = claims.get(claim)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [group for group in value if isinstance(group, str)]
    return []


def roles_for(groups: Iterable[str], grants: Mapping[str, tuple[Grant, ...]]) -> dict[str, str]:
    """The role by workspace slug; of several in one workspace the one that allows most."""
    found: dict[str, str] = {}
    for grant in (grant for group in groups for grant in grants.get(group, ())):
        held = found.get(grant.workspace)
        if held is None or ROLES.index(grant.role) < ROLES.index(held):
            found[grant.workspace] = grant.role
    return found
