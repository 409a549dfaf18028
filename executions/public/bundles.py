"""Register a kind of item that bundles of definitions can contain, such as budgets."""

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
