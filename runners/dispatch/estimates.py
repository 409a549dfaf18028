"""Estimates of step durations and of the number of processes per queue, for packing.

The moving averages are kept in memory, without writes. A process that has not run a step itself
reads the newest runs of the table: at most one query per minute and workflow.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from executions.definition.graph.model import Step
from runners import statements
from runners.conf import config
from runners.dispatch.packing import Packing
from runners.models.runner import RESPONDS_WITHIN

KEPT = 20_000  # maximum number of cached steps; the oldest are dropped
LOOKED = 1_000  # maximum number of workflows whose last read is remembered
LOOK_SECONDS = 60.0  # minimum interval between two reads of the table for one workflow, in seconds
RISE, FALL = 0.5, 0.2  # weights of a longer and a shorter new duration: increases count more

Key = tuple[UUID, str]  # the module's place in the workflow, and the hash of its configuration
_known: dict[Key, float] = {}
_looked: dict[UUID, float] = {}


def note_duration(step: Step, milliseconds: float) -> None:
    """Update the estimate of a step with its newest duration."""
    key = _key(step)
    before = _known.get(key)
    if before is None:
        _keep(key, milliseconds)
        return
    share = RISE if milliseconds > before else FALL
    _known[key] = before + share * (milliseconds - before)


def estimate_duration(step: Step) -> float | None:
    """Return the step's estimated duration in milliseconds, or None if it is unknown."""
    return _known.get(_key(step))


def learn_durations(workflow_id: UUID, steps: Sequence[Step]) -> None:
    """Read unknown durations from the table, at most once a minute for each workflow."""
    unknown = {step.module_uuid for step in steps if _key(step) not in _known}
    now = time.monotonic()
    if not unknown or now - _looked.get(workflow_id, -LOOK_SECONDS) < LOOK_SECONDS:
        return
    _looked[workflow_id] = now
    if len(_looked) > LOOKED:
        _looked.pop(next(iter(_looked)), None)
    found = statements.fetch("durations", {"workflow": workflow_id, "modules": list(unknown)})
    for module_uuid, config_hash, milliseconds in found:
        if (module_uuid, config_hash) not in _known:
            _keep((module_uuid, config_hash), milliseconds)


def forget_durations() -> None:
    """Forget all durations and the times at which they were read, as in a new process."""
    _known.clear()
    _looked.clear()


def _key(step: Step) -> Key:
    return step.module_uuid, step.config_hash


def _keep(key: Key, milliseconds: float) -> None:
    _known[key] = milliseconds
    if len(_known) > KEPT:
        _known.pop(next(iter(_known)), None)


# The number of Valkyr's processes or threads that serve a queue, so that packing leaves none idle.


CAPACITY_SECONDS = 10.0  # validity of the counts, in seconds

_counted: dict[str, int] = {}
_at = -CAPACITY_SECONDS


def serving(queue: str) -> int:
    """Return how many processes or threads serve this queue, at least 1; cached for 10 s."""
    global _at, _counted  # noqa: PLW0603 - one answer a process
    now = time.monotonic()
    if now - _at >= CAPACITY_SECONDS:
        _counted = dict(statements.fetch("count_workers_by_queue", {"within": RESPONDS_WITHIN}))
        _at = now
    return max(1, _counted.get(queue, 1))


def forget_capacity() -> None:
    """Forget the numbers of processes, so that `serving` counts them again."""
    global _at  # noqa: PLW0603
    _at = -CAPACITY_SECONDS


def packing_rules(workflow_id: UUID, steps: Sequence[Step]) -> Packing:
    """Return the rules for packing these steps, based on their recent durations."""
    learn_durations(workflow_id, steps)
    most = config()
    return Packing(most.pack_seconds, most.pack_steps, estimate_duration, serving)
