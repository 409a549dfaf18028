"""Register a kind of items that bundles of definitions hold, such as budgets."""

from executions.bundles.kinds import (
    BundleContext,
    BundleKind,
    Item,
    ItemField,
    StoredItem,
    register,
)

__all__ = [
    "BundleContext",
    "BundleKind",
    "Item",
    "ItemField",
    "StoredItem",
    "register",
]
