"""The Django app of the plugin `circuits`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.circuits.conf import CircuitSettings


class CircuitsConfig(PluginConfig):
    """Stop calls to failing targets, and hold the steps that call them."""

    name = "valkyr_plugins.circuits"
    label = "valkyr_circuits"
    verbose_name = "Circuits"
    settings_class = CircuitSettings
    api = "valkyr_plugins.circuits.urls"
    api_tags = {"CircuitBreaker": "The targets that steps call, and the states of their circuits."}

    def ready(self) -> None:
        """Register the gate, the wake-ups, the reports of open circuits, and the bundle items."""
        from dlq.public.metrics import READINGS
        from executions.public import bundles
        from executions.public.conditions import LASTING
        from runners.public import explain, gates, recovery
        from runners.public.circuits import open_circuits
        from runners.public.models import WaitKind
        from valkyr_plugins.circuits import breaker_rows, gate, reports, rules

        gates.register(
            gate.ask,
            gates.Stage.TARGET,
            gates.LeaseGate("circuits", gate.ask_all, gate.undo_all, gate.restore),
        )
        explain.HOLDS[WaitKind.CIRCUIT] = reports.reasons
        recovery.EVERY_SECOND["circuits"] = gate.wake_held
        recovery.EVERY_FIVE_SECONDS["unused_circuits"] = gate.forget_unused
        READINGS["circuits"] = reports.reading
        LASTING[breaker_rows.OPEN] = reports.lasting
        open_circuits.provide(reports.rows)
        bundles.register(rules.CircuitRuleItems())
