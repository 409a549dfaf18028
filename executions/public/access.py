"""Check permissions in a workspace, and name the acting user."""

from executions.access import (
    UNATTENDED,
    AccessChange,
    Action,
    Base,
    Forbidden,
    Powers,
    User,
    check_change,
    may_override,
    obtain,
    operators_powers,
    powers_on,
    powers_on_row,
    require,
    visible,
    workspace_for,
    workspaces_of,
)
from executions.access.actor import (
    DOORS,
    Actor,
    record,
)
from executions.access.operation import (
    Operation,
)
from executions.access.people import (
    LONGEST_NAME,
    key_as_json,
    name_path,
    person_named,
)
from executions.access.powers import (
    Power,
    Reach,
    limits_of,
    reach_of,
    refused,
)
from executions.access.scoping import (
    SCOPE_SQL,
    Scope,
    sees_all,
)

__all__ = [
    "DOORS",
    "LONGEST_NAME",
    "SCOPE_SQL",
    "UNATTENDED",
    "AccessChange",
    "Action",
    "Actor",
    "Base",
    "Forbidden",
    "Operation",
    "Power",
    "Powers",
    "Reach",
    "Scope",
    "User",
    "check_change",
    "key_as_json",
    "limits_of",
    "may_override",
    "name_path",
    "obtain",
    "operators_powers",
    "person_named",
    "powers_on",
    "powers_on_row",
    "reach_of",
    "record",
    "refused",
    "require",
    "sees_all",
    "visible",
    "workspace_for",
    "workspaces_of",
]
