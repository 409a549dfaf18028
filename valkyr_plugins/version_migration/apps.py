"""The Django app of the plugin `version_migration`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.version_migration.conf import VersionMigrationSettings


class VersionMigrationConfig(PluginConfig):
    """Moves live executions to another version, at a set rate and with a pause after canaries."""

    name = "valkyr_plugins.version_migration"
    label = "valkyr_version_migration"
    verbose_name = "Migrations of executions"
    settings_class = VersionMigrationSettings
    api = "valkyr_plugins.version_migration.urls"
    api_tags = {"ExecutionMigration": "Live executions moved to another version."}
    api_enums = {
        "MigrationState": "valkyr_plugins.version_migration.models.MigrationState",
        "MigratedState": "valkyr_plugins.version_migration.models.MigratedState",
    }
    schedule = {
        "valkyr: migrations of executions": {
            "task": "valkyr_version_migration.drive",
            "every": timedelta(seconds=1),
        },
        "valkyr: drafts of migrations": {
            "task": "valkyr_version_migration.forget",
            "every": timedelta(hours=1),
        },
    }

    def ready(self) -> None:
        """Register migrations with retention."""
        from valkyr_plugins.version_migration import hooks  # noqa: F401 - registers on import
