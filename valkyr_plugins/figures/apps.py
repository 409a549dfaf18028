"""The Django app of the plugin `figures`."""

from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

from django.templatetags.static import static

from executions.public.plugins import PluginConfig


class FiguresConfig(PluginConfig):
    """Hourly counts of executions, as charts and over HTTP."""

    name = "valkyr_plugins.figures"
    label = "valkyr_figures"
    verbose_name = "Figures"
    api = "valkyr_plugins.figures.urls"
    api_tags = {
        "Figures": "Executions, failures and durations over time, and what is waiting now.",
    }
    schedule = {
        "valkyr: figures": {"task": "valkyr_figures.count", "every": timedelta(minutes=1)},
    }

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Add the styles and the script of charts to the admin."""
        settings["UNFOLD"]["STYLES"].append(lambda request: static("valkyr_figures/figures.css"))
        settings["UNFOLD"]["SCRIPTS"].append(lambda request: static("valkyr_figures/figures.js"))

    def ready(self) -> None:
        """Keep executions from being deleted until they are counted."""
        from dlq.public.retention import HORIZONS
        from valkyr_plugins.figures.rollup import needed_since

        HORIZONS.append(needed_since)
