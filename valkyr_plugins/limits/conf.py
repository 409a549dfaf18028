"""The settings of quotas and budgets."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class LimitsSettings(SettingsModel):
    """Settings of the plugin `limits`."""

    title: ClassVar[str] = "Costs"

    keep_costs_days: float = setting(
        400,
        "How long the cost of a step is kept, even after its execution is deleted; 0: forever",
        unit="days",
        ge=0,
    )
