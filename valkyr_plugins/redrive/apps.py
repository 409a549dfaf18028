"""The Django app of the plugin `redrive`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.redrive.conf import RedriveSettings


class RedriveConfig(PluginConfig):
    """Requeue dead letters in bulk: by IDs, group or filter, at a set rate, canaries first."""

    name = "valkyr_plugins.redrive"
    label = "valkyr_redrive"
    verbose_name = "Redrives"
    settings_class = RedriveSettings
    api = "valkyr_plugins.redrive.urls"
    api_tags = {"Redrive": "Bulk requeue of dead letters at a set rate."}
    api_enums = {
        "ItemState": "valkyr_plugins.redrive.models.ItemState",
        "RedriveState": "valkyr_plugins.redrive.models.RedriveState",
    }
    schedule = {
        "valkyr: redrives": {"task": "valkyr_redrive.drive", "every": timedelta(seconds=1)},
        "valkyr: drafts of redrives": {
            "task": "valkyr_redrive.forget",
            "every": timedelta(hours=1),
        },
    }

    def ready(self) -> None:
        """Listen for merged groups; register redrives with retention and metrics."""
        from valkyr_plugins.redrive import hooks  # noqa: F401 - registers on import
