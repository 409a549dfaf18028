"""The Django app of the plugin `canary`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig


class CanaryConfig(PluginConfig):
    """Publish a version for a share of new executions; roll back publications."""

    name = "valkyr_plugins.canary"
    label = "valkyr_canary"
    verbose_name = "Canary versions"
    api = "valkyr_plugins.canary.urls"
    api_enums = {
        "CanaryState": "valkyr_plugins.canary.models.CanaryState",
        "Treatment": "valkyr_plugins.canary.models.Treatment",
    }
    schedule = {
        "valkyr: canaries": {"task": "valkyr_canary.watch", "every": timedelta(seconds=1)},
        "valkyr: rollbacks": {"task": "valkyr_canary.settle", "every": timedelta(seconds=1)},
    }

    def ready(self) -> None:
        """Connect the signals; register the check that ends alerts about stopped canaries."""
        from executions.public.conditions import LASTING
        from valkyr_plugins.canary import lifecycle, watching

        LASTING[lifecycle.STOPPED] = watching.lasting
