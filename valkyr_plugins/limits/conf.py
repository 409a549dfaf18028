"""The settings of limits."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class LimitsSettings(SettingsModel):
    """The plugin `limits`."""

    title: ClassVar[str] = "Costs"

    keep_costs_days: float = setting(
        400,
        "How long an entry of what a step cost is kept, also when its execution is gone; 0 is "
        "forever",
        unit="days",
        ge=0,
    )
