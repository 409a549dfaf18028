"""The states of redrives and of their items, and the moves of a redrive.

`lifecycle.py` alone makes those moves, `items.py` those of items while a redrive runs.
"""

from django.db import models


class RedriveState(models.TextChoices):
    """Where a redrive is; `lifecycle` alone moves it."""

    DRAFT = "DRAFT", "draft"
    RUNNING = "RUNNING", "running"
    PAUSED = "PAUSED", "paused"
    STOPPED = "STOPPED", "stopped by its failures"
    DONE = "DONE", "done"
    ABORTED = "ABORTED", "aborted"


class RedriveScope(models.TextChoices):
    """What runs again."""

    STEP = "STEP", "the failed step, in its execution"
    FROM = "FROM", "from a chosen step on, in a new execution"
    EXECUTION = "EXECUTION", "the whole execution, anew"


class ItemState(models.TextChoices):
    """What became of one entry of a redrive."""

    QUEUED = "QUEUED", "queued"
    RUNNING = "RUNNING", "running"
    SUCCEEDED = "SUCCEEDED", "succeeded"
    FAILED_AGAIN = "FAILED_AGAIN", "failed again"
    SKIPPED = "SKIPPED", "skipped"
    ABORTED = "ABORTED", "not sent: the redrive was aborted"


_S = RedriveState

# From each state, the states it may go to.
MOVES: dict[str, frozenset[str]] = {
    _S.DRAFT: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.RUNNING: frozenset({_S.PAUSED, _S.STOPPED, _S.DONE, _S.ABORTED}),
    _S.PAUSED: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.STOPPED: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.DONE: frozenset(),
    _S.ABORTED: frozenset(),
}
FINAL = frozenset(state for state, targets in MOVES.items() if not targets)


def sources(target: str) -> tuple[str, ...]:
    """The states from which `target` may be reached, sorted."""
    return tuple(sorted(source for source, targets in MOVES.items() if target in targets))
