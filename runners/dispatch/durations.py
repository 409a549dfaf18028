"""How long steps take, as this process has seen it: what packing siblings is decided by.

A moving estimate in memory, so that nothing is written for it. A process that has not run a step
itself learns from the newest runs in the table, one query at most a minute and workflow.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from executions.definition.graph.model import Step
from runners import statements

KEPT = 20_000  # steps remembered; the oldest are forgotten
LOOKED = 1_000  # workflows whose last look is remembered
EVERY = 60.0  # seconds between two looks at the table for one workflow
RISE, FALL = 0.5, 0.2  # share of a new duration in the estimate: slower is believed sooner

Key = tuple[UUID, str]  # the module's place in the workflow, and the hash of its configuration
_known: dict[Key, float] = {}
_looked: dict[UUID, float] = {}


def note(step: Step, milliseconds: float) -> None:
    """Take in how long a step took this time."""
    key = _key(step)
    before = _known.get(key)
    if before is None:
        _keep(key, milliseconds)
        return
    share = RISE if milliseconds > before else FALL
    _known[key] = before + share * (milliseconds - before)


def estimate(step: Step) -> float | None:
    """How many milliseconds the step takes; None where nobody knows."""
    return _known.get(_key(step))


def learn(workflow_id: UUID, steps: Sequence[Step]) -> None:
    """Look up in the table those that this process does not know, unless it did so lately."""
    unknown = {step.module_uuid for step in steps if _key(step) not in _known}
    now = time.monotonic()
    if not unknown or now - _looked.get(workflow_id, -EVERY) < EVERY:
        return
    _looked[workflow_id] = now
    if len(_looked) > LOOKED:
        _looked.pop(next(iter(_looked)), None)
    found = statements.fetch("durations", {"workflow": workflow_id, "modules": list(unknown)})
    for module_uuid, config_hash, milliseconds in found:
        if (module_uuid, config_hash) not in _known:
            _keep((module_uuid, config_hash), milliseconds)


def forget() -> None:
    """Know nothing again, as a new process does."""
    _known.clear()
    _looked.clear()


def _key(step: Step) -> Key:
    return step.module_uuid, step.config_hash


def _keep(key: Key, milliseconds: float) -> None:
    _known[key] = milliseconds
    if len(_known) > KEPT:
        _known.pop(next(iter(_known)), None)
