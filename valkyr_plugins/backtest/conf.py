"""The settings of backtests."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, setting


class BacktestSettings(SettingsModel):
    """Settings of the plugin `backtest`."""

    title: ClassVar[str] = "Backtests"

    backtest_retention_days: float = setting(
        30,
        "How long backtests and their results are kept",
        unit="days",
        variables=("BACKTEST_RETENTION_DAYS",),
        ge=1,
    )
