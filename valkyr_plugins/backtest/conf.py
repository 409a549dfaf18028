"""The settings of backtests."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class BacktestSettings(SettingsModel):
    """Settings of the plugin `backtest`."""

    title: ClassVar[str] = "Backtests"

    backtest_retention_days: float = setting(
        30,
        "Retention of backtests and their results",
        unit="days",
        variables=("BACKTEST_RETENTION_DAYS",),
        ge=1,
    )
