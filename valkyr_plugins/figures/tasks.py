"""Celery's way in."""

from executions.public.messaging import task


@task("valkyr_figures.count")
def count() -> dict[str, int]:
    """Every minute: count the hours that are over."""
    from valkyr_plugins.figures.rollup import roll

    return roll()
