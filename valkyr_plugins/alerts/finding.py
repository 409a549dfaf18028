"""What was noticed, before any rule is asked: one occurrence, or one condition that holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from valkyr_plugins.alerts.models import AlertKind

# Conditions that are looked for again and again; the others happen.
LASTING = frozenset(
    {AlertKind.RATE_HIGH, AlertKind.ENTRY_OLD, AlertKind.NO_WORKER, AlertKind.BEAT_SILENT}
)
# Of these people are told, too, that they are over.
CLEARED = LASTING | {AlertKind.CIRCUIT_OPEN}


@dataclass(frozen=True, slots=True)
class Finding:
    """`subject` tells one from another of its kind: `group:<id>`; `path` is the page about it.

    `sentence` is for people and holds no payload; `details` is for programs.
    """

    kind: AlertKind
    subject: str
    sentence: str
    path: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    workspace_id: UUID | None = None
    workflow_id: UUID | None = None


def page(name: str, pk: Any = None) -> str:
    """The path of an object's admin page (`app_model`), or of the list.

    Written out, not looked up: that would load every page of the admin into a worker, and do it
    in the middle of a step's transaction.
    """
    listing = f"/admin/{name.replace('_', '/', 1)}/"
    return listing if pk is None else f"{listing}{pk}/change/"
