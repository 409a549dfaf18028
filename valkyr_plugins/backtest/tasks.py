"""The Celery tasks of the plugin."""

from uuid import UUID

from executions.public.messaging import task


@task("valkyr_backtest.work")
def work(backtest_id: str) -> bool:
    """Compare executions of a backtest for a few seconds; return whether the backtest continues."""
    from valkyr_plugins.backtest import working

    return working.work(UUID(backtest_id))


@task("valkyr_backtest.resend")
def resend() -> int:
    """Send unfinished backtests that no worker holds; return their number. Runs every 15 s."""
    from valkyr_plugins.backtest import working

    return working.resend()


@task("valkyr_backtest.expire")
def expire() -> int:
    """Delete old backtests; return their number. Runs once an hour."""
    from valkyr_plugins.backtest import lifecycle

    return lifecycle.expire()
