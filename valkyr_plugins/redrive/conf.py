"""The settings of redrives."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class RedriveSettings(SettingsModel):
    """Settings of the plugin `redrive`."""

    title: ClassVar[str] = "Redrives"

    keep_redrives_days: float = setting(
        90, "How long a completed or aborted redrive is kept; 0: forever", unit="days", ge=0
    )
