"""The URLs of backtests."""

from django.urls import path

from valkyr_plugins.backtest import api

WORKFLOW = "v1/Workflow/<uuid:id>"
BACKTEST = "v1/Backtest/<uuid:id>"

urlpatterns = [
    path(f"{WORKFLOW}/backtest", api.StartBacktest.as_view(), name="valkyr-workflow-backtest"),
    path(f"{WORKFLOW}/backtests", api.WorkflowBacktests.as_view(), name="valkyr-backtests"),
    path(BACKTEST, api.OneBacktest.as_view(), name="valkyr-backtest"),
    path(f"{BACKTEST}/results", api.BacktestResults.as_view(), name="valkyr-backtest-results"),
    path(f"{BACKTEST}/cancel", api.CancelBacktest.as_view(), name="valkyr-backtest-cancel"),
]
