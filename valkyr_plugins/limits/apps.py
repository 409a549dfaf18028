"""The Django app of the plugin `limits`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.limits.conf import LimitsSettings


class LimitsConfig(PluginConfig):
    """Quotas on starts, runs and tokens; costs of steps, and budgets that limit them."""

    name = "valkyr_plugins.limits"
    label = "valkyr_limits"
    verbose_name = "Limits"
    settings_class = LimitsSettings
    api = "valkyr_plugins.limits.urls"
    api_tags = {
        "Quota": "Limits on executions, steps and tokens, and their current use.",
        "Budget": "Limits on costs, and the amounts spent.",
        "CostEntry": "The costs of steps: single entries and sums.",
    }

    def ready(self) -> None:
        """Register gates, wait reasons, the sweep, a metric, retention and bundle items."""
        from dlq.public import retention
        from dlq.public.metrics import READINGS
        from executions.public import bundles
        from runners.public import gates
        from runners.public.explain import HOLDS
        from runners.public.models import WaitKind
        from runners.public.recovery import EVERY_SECOND
        from valkyr_plugins.limits import (
            admission,  # noqa: F401 - connects on import
            budget_enforcement,
            budgets,
            bundle_items,
            quota_gate,
            quotas,
        )
        from valkyr_plugins.limits.costs import COSTS

        gates.register(
            budget_enforcement.ask,
            gates.Stage.REFUSE,
            gates.LeaseGate("budgets", budget_enforcement.ask_all),
        )
        gates.register(
            quota_gate.ask,
            gates.Stage.HOLD,
            gates.LeaseGate(
                "quotas", quota_gate.ask_all, quota_gate.undo_permits, quota_gate.restore
            ),
        )
        HOLDS[WaitKind.QUOTA] = quotas.reasons
        EVERY_SECOND["budgets"] = budget_enforcement.sweep
        READINGS["budgets"] = budgets.budget_ratios
        retention.add_kind(COSTS)
        bundles.register(bundle_items.BudgetItems())
        bundles.register(bundle_items.QuotaItems())
