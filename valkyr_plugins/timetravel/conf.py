"""The settings of time travel."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class TimeTravelSettings(SettingsModel):
    """Settings of the plugin `timetravel`."""

    title: ClassVar[str] = "Checkpoints"

    checkpoint_retention_hours: float = setting(
        24,
        "How long checkpoints are kept after the end of their execution; afterwards, you can still "
        "fork from finished steps. 0: as long as the execution",
        unit="hours",
        variables=("CHECKPOINT_RETENTION_HOURS",),
        ge=0,
    )
