"""The Django app of the plugin `telemetry`."""

from collections.abc import MutableMapping
from typing import Any

from executions.public.plugins import PluginConfig
from valkyr_plugins.telemetry import switch


class TelemetryConfig(PluginConfig):
    """OpenTelemetry spans; none are made without a collector in the environment."""

    name = "valkyr_plugins.telemetry"
    label = "valkyr_telemetry"
    verbose_name = "Telemetry"
    asgi = f"{name}.requests.traced"

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Limit OpenTelemetry's warnings, e.g. about a missing collector, to one per minute."""
        logging = settings["LOGGING"]
        logging["filters"]["seldom"] = {"()": f"{cls.name}.log_lines.Seldom"}
        logging["handlers"]["stderr"]["filters"].insert(0, "seldom")

    def ready(self) -> None:
        """Add the current span's IDs to log lines; make spans if a collector is configured."""
        from executions.public.tracing import MORE_IDS
        from valkyr_plugins.telemetry.log_lines import ids

        MORE_IDS.append(ids)
        if switch.on():
            # Imported only now, because the modules that make spans import OpenTelemetry.
            from valkyr_plugins.telemetry import (
                execution_spans,
                exporting,
                messages,
                run_spans,
            )

            for part in (exporting, execution_spans, messages, run_spans):
                part.connect()
            run_spans.connect_remote()
