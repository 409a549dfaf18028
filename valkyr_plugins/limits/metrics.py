"""How much of budgets is spent, for Prometheus."""

from collections.abc import Iterator
from datetime import datetime

from dlq.public.metrics import NAMED, Family
from valkyr_plugins.limits.budgets.usage import uses_of
from valkyr_plugins.limits.models import Budget


def budgets(now: datetime) -> Iterator[Family]:
    """What is spent of budgets: those of which most is."""
    some = list(Budget.objects.select_related("workspace").order_by("pk")[:500])
    uses = uses_of(some)
    some.sort(key=lambda budget: -uses[budget.pk].percent)
    family = Family(
        "valkyr_budget_used_ratio",
        f"Share of a budget that is spent in its present period; the {NAMED} with the most.",
        labels=["workspace", "budget"],
    )
    for budget in some[:NAMED]:
        family.add_metric([budget.workspace.slug, str(budget.pk)], uses[budget.pk].percent / 100)
    yield family
