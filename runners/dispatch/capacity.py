"""How many processes or threads of ours serve a queue: work is not packed so that some idle."""

import time

from runners import statements

EVERY = 10.0  # seconds that an answer is good for

_counted: dict[str, int] = {}
_at = -EVERY


def serving(queue: str) -> int:
    """How many of our workers' processes take from this queue; at least one."""
    global _at, _counted  # noqa: PLW0603 - one answer a process
    now = time.monotonic()
    if now - _at >= EVERY:
        _counted = dict(statements.fetch("workforce", {}))
        _at = now
    return max(1, _counted.get(queue, 1))


def forget() -> None:
    """Ask again at the next question."""
    global _at  # noqa: PLW0603
    _at = -EVERY
