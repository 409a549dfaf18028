"""Looks after the counters of failure groups each second, for well under one each time."""

from dlq.groups import moving, tally


def turn() -> dict[str, int]:
    """Count what is new, wake who slept long enough, and go on with what moves."""
    return {"counted": tally.fold(), "woken": tally.wake(), "moved": moving.move_on()}
