"""A backlog that grows by tenths: the engine starts a part of each, and its rate is measured.

The rest of a tenth is copied from the last execution of that part (tests/support/copies.py), as the
engine would have left it. So each tenth's rate is measured at that depth of the backlog, and a
backlog of 250,000 steps exists within seconds.
"""

import time
from typing import Any

from tests.benchmarks.sides import BATCH


def grow(workflow: Any, many: int, sample: int) -> list[float]:
    """Create `many` executions, at most `sample` of each tenth by the engine; return the rates of
    these, in executions per second.
    """
    from tests.support import copies

    rates, share = [], many // 10
    for tenth in range(10):
        number = share if tenth < 9 else many - 9 * share
        measured = min(sample, max(1, number // 2))
        began = time.monotonic()
        last = _start(workflow, measured)
        rates.append(measured / (time.monotonic() - began))
        copies.multiply(last, number - measured)
    copies.analyze()
    return rates


def _start(workflow: Any, number: int) -> Any:
    """Start this number of executions in batches; return the id of the last."""
    from executions.access.actor import Actor
    from executions.triggers.start import start_batch

    actor, last = Actor.system("benchmark"), None
    for first in range(0, number, BATCH):
        payloads = [{"n": 1}] * min(BATCH, number - first)
        last = start_batch(workflow, payloads, actor=actor)[-1].pk
    return last
