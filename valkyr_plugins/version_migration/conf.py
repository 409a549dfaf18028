"""The settings of migrations of executions."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class VersionMigrationSettings(SettingsModel):
    """Settings of the plugin `version_migration`."""

    title: ClassVar[str] = "Migrations of executions"

    keep_migrations_days: float = setting(
        90, "How long a completed or cancelled migration is kept; 0: forever", unit="days", ge=0
    )
