"""Celery's way in."""

from celery import shared_task

from dlq import retention


@shared_task(name="dlq.expire")
def expire() -> int:
    """Once a day: delete resolved dead letters whose time is over."""
    return retention.expire()


@shared_task(name="dlq.tell_alerts")
def tell_alerts() -> dict[str, int]:
    """Every five seconds: beat's pulse, news for alerts, and messages that are due."""
    from dlq.alerts import duty

    return duty.tell()


@shared_task(name="dlq.watch")
def watch() -> dict[str, int]:
    """Every fifteen seconds: look whether what alert rules ask about holds."""
    from dlq.alerts import duty

    return duty.look()


@shared_task(name="dlq.forget_alerts")
def forget_alerts() -> int:
    """Once an hour: delete alerts that were over long ago."""
    from dlq.alerts import watching

    return watching.forget()
