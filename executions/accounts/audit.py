"""Write the audit rows of accounts, tokens, members and workspaces."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from executions.access.actor import Actor, record
from executions.models import Workspace


def audit(
    actor: Actor,
    action: str,
    row: Model,
    *,
    reason: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record a change to a row. A row without a workspace concerns the installation."""
    own = isinstance(row, Workspace)
    record(
        actor,
        action,
        workspace_id=row.pk if own else getattr(row, "workspace_id", None),
        # `__class__`, because a request's user is a lazy object whose `type` is not the account's.
        object_type=row.__class__.__name__,
        object_id=row.pk,
        reason=reason,
        before=before,
        after=after,
    )
