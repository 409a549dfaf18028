"""The package that checks permissions and limits querysets to the caller's rows.

Permissions come from four sources: the role in the workspace, the membership's own permissions,
object permissions on a workflow (which its executions, runs and dead letters inherit), and Django's
permissions. An API token excludes everything outside its workspace and scopes.
"""

from executions.access.changes import (
    AccessChange,
    Base,
    check_change,
    may_override,
    operators_powers,
)
from executions.access.powers import (
    ALLOWED,
    INCLUDED,
    OBJECT_PERMISSIONS,
    SCOPES,
    UNATTENDED,
    Action,
    AmbiguousWorkspace,
    Forbidden,
    Powers,
    Reach,
    TokenLimits,
    User,
    powers_on,
    reach_of,
    roles_with,
)
from executions.access.scoping import (
    let_through,
    obtain,
    powers_on_row,
    require,
    visible,
    workspace_for,
    workspace_id_of,
    workspace_path,
    workspaces_of,
)

__all__ = [
    "ALLOWED",
    "INCLUDED",
    "OBJECT_PERMISSIONS",
    "SCOPES",
    "UNATTENDED",
    "AccessChange",
    "Action",
    "AmbiguousWorkspace",
    "Base",
    "Forbidden",
    "Powers",
    "Reach",
    "TokenLimits",
    "User",
    "check_change",
    "let_through",
    "may_override",
    "obtain",
    "operators_powers",
    "powers_on",
    "powers_on_row",
    "reach_of",
    "require",
    "roles_with",
    "visible",
    "workspace_for",
    "workspace_id_of",
    "workspace_path",
    "workspaces_of",
]
