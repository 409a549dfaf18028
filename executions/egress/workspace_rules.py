"""Find the egress rules of a workspace; each process keeps them for five seconds."""

import time
from threading import Lock
from uuid import UUID

from executions.configuration import settings
from executions.credentials.boundary import ANY
from executions.egress.rules import EgressRules
from executions.models import Workspace

KEPT_SECONDS = 5.0
MOST_KEPT = 1_000

_kept: dict[UUID, tuple[float, tuple[str, tuple[str, ...]]]] = {}
_lock = Lock()


def rules_of(workspace_id: UUID | None) -> EgressRules | None:
    """Return the rules of a workspace; None if its steps may connect to any host.

    A workspace without rules uses the installation's rules. A change in another process is noticed
    after at most KEPT_SECONDS.
    """
    slug, own = ("", ()) if workspace_id is None else _row(workspace_id)
    hosts = own or settings().egress_allow
    if not hosts or ANY in hosts:
        return None
    return EgressRules(hosts, bool(own), slug, workspace_id)


def forget(workspace_id: UUID) -> None:
    """Read the rules of a workspace again at the next use in this process."""
    with _lock:
        _kept.pop(workspace_id, None)


def _row(workspace_id: UUID) -> tuple[str, tuple[str, ...]]:
    """Return the workspace's slug and its own rules; "" and () for an unknown workspace."""
    now = time.monotonic()
    known = _kept.get(workspace_id)
    if known is not None and now - known[0] < KEPT_SECONDS:
        return known[1]
    rows = Workspace.objects.filter(pk=workspace_id)
    slug, hosts = rows.values_list("slug", "egress_hosts").first() or ("", [])
    found = (slug, tuple(hosts))
    with _lock:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[workspace_id] = (now, found)
    return found
