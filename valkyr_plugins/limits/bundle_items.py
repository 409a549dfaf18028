"""Budgets and quotas as items of a bundle, which name members by their user names."""

from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from django.db.models import QuerySet

from executions.public.access import person_named
from executions.public.bundles import BundleContext, BundleKind, Item, ItemField, StoredItem
from executions.public.definitions import DefinitionProblem
from executions.public.models import Permission, Workspace
from valkyr_plugins.limits.budgets import BUDGETS, plain
from valkyr_plugins.limits.limit_kind import LimitKind
from valkyr_plugins.limits.models import SpenderLimit
from valkyr_plugins.limits.quotas import QUOTAS

USER = ItemField("text", None, column=False, most=254)


class LimitItems(BundleKind):
    """The base class of bundle items for one kind of limit."""

    needs = Permission.CONFIGURE
    limits: ClassVar[LimitKind[Any]]

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        """Return the workspace's limits."""
        rows: QuerySet[Any] = self.limits.model._default_manager.filter(workspace=workspace)
        return rows.select_related("user").order_by("created_at", "pk")

    def item(self, row: SpenderLimit) -> Item:
        """Return a limit as an item; `user` is the user's name, or None for the whole workspace."""
        return super().item(row) | {"user": row.user.get_username() if row.user else None}

    def create(self, context: BundleContext, item: Item) -> None:
        """Create a limit. Raises LimitRefused for a user who is not a member."""
        self.limits.create(
            context.workspace, self.facts(item), user_id=self._user(item), actor=context.actor
        )

    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Set a limit's changeable fields to the item's values."""
        facts = self.facts(item)
        changes = {name: facts[name] for name in self.limits.changeable}
        self.limits.change(row.id, changes, actor=context.actor)

    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete a limit, with its counters."""
        self.limits.delete(row.id, actor=context.actor)

    def _user(self, item: Item) -> Any:
        if item["user"] is None:
            return None
        person = person_named(item["user"])
        if person is None:
            what = f"There is no user {item['user']!r}."
            raise self.limits.refused(
                self.limits.members_only, [DefinitionProblem("user", "unknown", what)]
            )
        return person.pk


class BudgetItems(LimitItems):
    """Budgets as items of a bundle, identified by spender, period and currency."""

    name = "budgets"
    limits = BUDGETS
    keys = ("period", "currency", "user")
    fields = {
        "user": USER,
        "period": ItemField("text", "month", most=20),
        "currency": ItemField("text", "", most=3),
        "amount": ItemField("text", most=40),
        "softPercent": ItemField("whole", 80, nullable=True, most=100),
        "killSwitch": ItemField("flag", default=False),
    }

    def mistakes(self, item: Any, path: str) -> list[DefinitionProblem]:
        """Return the problems in an item; its amount can be text or a number."""
        return super().mistakes(_with_text(item), path) or _bad_amount(item, path)

    def full(self, item: Item) -> Item:
        """Return the item with defaults, and its amount without trailing zeros."""
        found = super().full(_with_text(item))
        return found | {"amount": _plain(Decimal(found["amount"]))}

    def item(self, row: SpenderLimit) -> Item:
        """Return a budget as an item, with its amount without trailing zeros."""
        item = super().item(row)
        return item | {"amount": _plain(Decimal(item["amount"]))}

    def facts(self, item: Item) -> dict[str, Any]:
        """Return an item's values for a budget, with the amount as a Decimal."""
        return super().facts(item) | {"amount": Decimal(item["amount"])}


class QuotaItems(LimitItems):
    """Quotas as items of a bundle, identified by spender, resource and target."""

    name = "quotas"
    limits = QUOTAS
    keys = ("resource", "target", "user")
    fields = {
        "user": USER,
        "resource": ItemField("text", "executions", most=20),
        "target": ItemField("text", "", most=100),
        "maxConcurrent": ItemField("whole", None),
        "maxPerHour": ItemField("whole", None, most=2**53),
        "maxPerDay": ItemField("whole", None, most=2**53),
    }


def _with_text(item: Any) -> Any:
    if not isinstance(item, dict) or isinstance(item.get("amount"), bool):
        return item
    amount = item.get("amount")
    return item | {"amount": str(amount)} if isinstance(amount, int | float) else item


def _bad_amount(item: Item, path: str) -> list[DefinitionProblem]:
    try:
        Decimal(str(item["amount"]))
    except InvalidOperation:
        what = "Expected a number, such as 12.50."
        return [DefinitionProblem(f"{path}.amount", "type", what)]
    return []


def _plain(value: Decimal) -> str:
    return plain(value).replace(",", "") if value.is_finite() else str(value)
