"""The Celery tasks of the plugin."""

from uuid import UUID

from executions.public.messaging import CONTROL, send, task


@task("valkyr_canary.watch")
def watch() -> int:
    """Stop or promote canaries if their conditions are met; return how many ended.

    Runs every second.
    """
    from valkyr_plugins.canary import watching

    return watching.watch()


@task("valkyr_canary.look")
def look(execution_id: str) -> bool:
    """Check the canary of an execution that failed; return whether the canary ended."""
    from valkyr_plugins.canary import watching

    return watching.look_after_failure(UUID(execution_id))


@task("valkyr_canary.settle")
def settle() -> int:
    """Settle executions that started on withdrawn versions; return their number.

    Runs every second.
    """
    from valkyr_plugins.canary import settling

    turn = settling.settle_alone()
    if turn.more:
        send(settle.name, (), CONTROL, expires=5.0)
    return turn.settled
