"""Celery tasks of this plugin."""

from executions.public.messaging import task


@task("valkyr_alerts.tell")
def tell() -> dict[str, int]:
    """Every five seconds: turn news into alerts, and send messages that are due."""
    from valkyr_plugins.alerts import watching

    return watching.deliver()


@task("valkyr_alerts.watch")
def watch() -> dict[str, int]:
    """Every fifteen seconds: check the conditions of alert rules."""
    from valkyr_plugins.alerts import watching

    return watching.watch_alone()


@task("valkyr_alerts.forget")
def forget() -> int:
    """Once an hour: delete alerts that ended long ago."""
    from valkyr_plugins.alerts import watching

    return watching.forget()
