"""Export a workspace's definitions as a bundle."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.bundles.kinds import BundleKind, Item
from executions.bundles.planning import MOST_WORKFLOWS
from executions.bundles.workflows import live_workflows
from executions.errors import ValkyrError
from executions.models import Workspace

MAX_BYTES = 4 * 1024 * 1024
FROM_CODE, UNPUBLISHED = "from_code", "never_published"


class BundleTooLarge(ValkyrError):
    """The workspace has more definitions than one bundle holds."""

    code = "bundle_too_large"


@dataclass(slots=True)
class ExportedBundle:
    """Workflows with their checksums, items by kind, and the reason for each omitted workflow."""

    workflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    resources: dict[str, list[Item]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def export(workspace: Workspace, wanted: Iterable[BundleKind]) -> ExportedBundle:
    """Return the published workflows that do not come from code, and the items of the wanted kinds.

    Raises BundleTooLarge for too many workflows, items of a kind, or bytes (`MAX_BYTES`).
    """
    found, size = ExportedBundle(), 0
    live = live_workflows(workspace, None, lock=False, most=MOST_WORKFLOWS + 1)
    if len(live) > MOST_WORKFLOWS:
        raise BundleTooLarge(
            f"The workspace has more than {MOST_WORKFLOWS} workflows, the maximum of one bundle."
        )
    for slug, one in live.items():
        document = one.exported
        if one.origin or document is None:
            found.left_out[slug] = FROM_CODE if one.origin else UNPUBLISHED
            continue
        size += _bytes(document)
        found.workflows[slug], found.checksums[slug] = document, one.checksum
    for kind in wanted:
        rows = kind.stored(workspace, lock=False)
        if len(rows) > kind.most:
            raise BundleTooLarge(
                f"The workspace has more than {kind.most} {kind.name}, the maximum of one bundle."
            )
        found.resources[kind.name] = [kind.short(row.item) for row in rows]
    size += _bytes(found.resources)
    if size > MAX_BYTES:
        raise BundleTooLarge(
            f"The definitions have {size:,} bytes as JSON; one bundle holds {MAX_BYTES:,}."
        )
    return found


def _bytes(value: Mapping[str, Any]) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
