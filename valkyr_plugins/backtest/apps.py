"""The Django app of the plugin `backtest`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.backtest.conf import BacktestSettings


class BacktestConfig(PluginConfig):
    """Compare a draft with the records of past executions before you publish it."""

    name = "valkyr_plugins.backtest"
    label = "valkyr_backtest"
    verbose_name = "Backtests"
    settings_class = BacktestSettings
    api = "valkyr_plugins.backtest.urls"
    api_tags = {"Backtest": "Comparisons of a draft with the records of past executions."}
    api_enums = {
        "BacktestVerdictReason": "valkyr_plugins.backtest.shapes.REASONS",
        "BacktestState": "valkyr_plugins.backtest.models.BacktestState",
        "BacktestVerdict": "valkyr_plugins.backtest.verdicts.BacktestVerdict",
    }
    schedule = {
        "valkyr: backtests": {"task": "valkyr_backtest.resend", "every": timedelta(seconds=15)},
        "valkyr: old backtests": {"task": "valkyr_backtest.expire", "every": timedelta(hours=1)},
    }
