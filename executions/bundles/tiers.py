"""Tiers as items of a bundle; they belong to the installation, not to a workspace."""

from django.db.models import QuerySet

from executions.accounts import workspaces
from executions.bundles.kinds import BundleContext, BundleKind, Item, ItemField, StoredItem
from executions.models import Tier, Workspace

LIMITS = ("maxConcurrent", "maxPending", "maxPerHour", "maxPerDay")


class TierItems(BundleKind):
    """Tiers, which are the limits of workspaces; the name identifies a tier."""

    name = "tiers"
    needs = None
    keys = ("name",)
    fields = {
        "name": ItemField("text"),
        **{name: ItemField("whole", None) for name in LIMITS},
    }

    def rows(self, workspace: Workspace) -> QuerySet[Tier]:
        """Return all tiers of the installation."""
        return Tier.objects.order_by("name")

    def create(self, context: BundleContext, item: Item) -> None:
        """Create a tier. Raises Taken."""
        workspaces.create_tier(self.facts(item), actor=context.actor)

    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Change a tier's limits. Raises NotFound or Taken."""
        workspaces.change_tier(row.id, self.facts(item), actor=context.actor)

    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete a tier without workspaces. Raises NotFound or InUse."""
        workspaces.delete_tier(row.id, actor=context.actor)
