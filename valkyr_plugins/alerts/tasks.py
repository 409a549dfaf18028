"""Celery tasks of this plugin."""

from executions.public.messaging import task


@task("valkyr_alerts.tell")
def tell() -> dict[str, int]:
    """Turn news into alerts, and send messages that are due. Runs every 5 s."""
    from valkyr_plugins.alerts import watching

    return watching.deliver()


@task("valkyr_alerts.watch")
def watch() -> dict[str, int]:
    """Check the conditions of alert rules, by default every 15 s."""
    from valkyr_plugins.alerts import watching

    return watching.watch_alone()


@task("valkyr_alerts.forget")
def forget() -> int:
    """Delete old closed alerts and old tests; return their number. Runs once an hour."""
    from valkyr_plugins.alerts import watching

    return watching.forget()
