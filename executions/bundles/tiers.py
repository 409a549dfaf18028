"""Tiers as items of a bundle; they belong to the installation."""

from typing import Any

from executions.accounts import workspaces
from executions.bundles.kinds import BundleContext, BundleKind, Item, ItemField, StoredItem
from executions.models import Tier, Workspace

COLUMNS = {
    "name": "name",
    "maxConcurrent": "max_concurrent",
    "maxPending": "max_pending",
    "maxPerHour": "max_per_hour",
    "maxPerDay": "max_per_day",
}


class TierItems(BundleKind):
    """The limits that workspaces share, by name."""

    name = "tiers"
    needs = None
    keys = ("name",)
    fields = {
        "name": ItemField("text"),
        **{name: ItemField("whole", None) for name in COLUMNS if name != "name"},
    }

    def stored(self, workspace: Workspace, *, lock: bool) -> list[StoredItem]:
        """Return all tiers of the installation."""
        rows = Tier.objects.order_by("name")
        if lock:
            rows = rows.select_for_update()
        return [StoredItem(row.pk, _item(row)) for row in rows[: self.most + 1]]

    def create(self, context: BundleContext, item: Item) -> None:
        """Create a tier; raises Taken."""
        workspaces.create_tier(_columns(item), actor=context.actor)

    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Change a tier's limits."""
        workspaces.change_tier(row.id, _columns(item), actor=context.actor)

    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete a tier without workspaces; raises InUse."""
        workspaces.delete_tier(row.id, actor=context.actor)


def _item(row: Tier) -> Item:
    return {name: getattr(row, column) for name, column in COLUMNS.items()}


def _columns(item: Item) -> dict[str, Any]:
    return {column: item[name] for name, column in COLUMNS.items()}
