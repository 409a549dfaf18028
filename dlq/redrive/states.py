"""The moves of a redrive; `lifecycle.py` alone makes them."""

from dlq.models import RedriveState

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
