"""Celery tasks of this plugin."""

from executions.public.messaging import task


@task("valkyr_mcp.expire")
def expire() -> int:
    """Expire up to 500 undecided, overdue proposals; return their number. Runs every minute."""
    from valkyr_plugins.mcp import proposals

    return proposals.expire()
