"""The plugin `limits`."""

from executions.public.plugins import PluginConfig


class LimitsConfig(PluginConfig):
    """Quotas on what starts, runs and uses tokens; what steps cost, and budgets that limit it."""

    name = "valkyr_plugins.limits"
    label = "valkyr_limits"
    verbose_name = "Limits"
    api = "valkyr_plugins.limits.urls"
    api_tags = {
        "Quota": "Limits on what is started, done or used, and how much of them is used.",
        "Budget": "Limits on what is spent, and how much of them is.",
        "CostEntry": "What steps spent, one by one and summed up.",
    }

    def ready(self) -> None:
        """Ask before executions start and steps run; hear what steps cost; tell what is used."""
        from dlq.public import retention
        from dlq.public.metrics import READINGS
        from runners.public import gates
        from runners.public.explain import HOLDS
        from runners.public.models import WaitKind
        from runners.public.recovery import EVERY_SECOND
        from valkyr_plugins.limits import metrics, starts  # noqa: F401 - connects on import
        from valkyr_plugins.limits.budgets import kill_switch, spent
        from valkyr_plugins.limits.costs import recording  # noqa: F401 - connects on import
        from valkyr_plugins.limits.costs.retention import COSTS
        from valkyr_plugins.limits.quotas import explain, gate

        gates.register(spent.ask, gates.Stage.REFUSE)
        gates.register(gate.ask, gates.Stage.HOLD)
        HOLDS[WaitKind.QUOTA] = explain.reasons
        EVERY_SECOND["budgets"] = kill_switch.sweep
        READINGS["budgets"] = metrics.budgets
        retention.add_kind(COSTS)
