"""Celery's way in."""

from celery import shared_task


@shared_task(name="valkyr_figures.count")
def count() -> dict[str, int]:
    """Every minute: count the hours that are over."""
    from valkyr_plugins.figures.rollup import roll

    return roll()
