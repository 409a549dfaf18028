"""The Django app of the plugin `archive`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.archive.conf import ArchiveSettings


class ArchiveConfig(PluginConfig):
    """Archives finished executions in Parquet files before retention deletes them."""

    name = "valkyr_plugins.archive"
    label = "valkyr_archive"
    verbose_name = "Archive"
    settings_class = ArchiveSettings
    api = "valkyr_plugins.archive.urls"
    api_tags = {"Archive": "Executions that retention deleted, in files of an archive."}
    schedule = {
        "valkyr: archive": {"task": "valkyr_archive.write", "every": timedelta(hours=1)},
    }

    def ready(self) -> None:
        """Let retention wait for the archive, and let the API open archived executions."""
        from executions.public.lifecycle import archived_execution
        from valkyr_plugins.archive import (
            checks,  # noqa: F401 - registers on import
            reading,
            retention_hooks,  # noqa: F401 - registers on import
        )

        archived_execution.provide(reading.obtain_execution)
