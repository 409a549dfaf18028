"""Celery tasks of this plugin."""

from executions.public.messaging import task


@task("valkyr_figures.count")
def count() -> dict[str, int]:
    """Count the hours that are due; return the numbers of counted hours and deleted rows.

    Runs every minute.
    """
    from valkyr_plugins.figures.rollup import roll

    return roll()
