"""Celery's way in."""

from executions.public.messaging import task


@task("valkyr_alerts.tell")
def tell() -> dict[str, int]:
    """Every five seconds: turn news into alerts, and send messages that are due."""
    from valkyr_plugins.alerts import watching

    return watching.deliver()


@task("valkyr_alerts.watch")
def watch() -> dict[str, int]:
    """Every fifteen seconds: look whether what alert rules ask about holds."""
    from valkyr_plugins.alerts import watching

    return watching.watch_alone()


@task("valkyr_alerts.forget")
def forget() -> int:
    """Once an hour: delete alerts that were over long ago."""
    from valkyr_plugins.alerts import watching

    return watching.forget()
