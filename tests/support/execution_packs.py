"""Executions that share messages, one of which behaves differently."""

from typing import Any
from uuid import UUID

from executions.definition.versions import compiled
from runners.conf import config
from runners.dispatch import estimates
from tests.support.workflows import effect, publish, start_many

STEP = "work.main"
PACK = 50
ODD = 2  # the third of the first pack


def start_packs(packs: int, hang_seconds: float, **more: Any) -> list[UUID]:
    """Start `packs` packs of 50 executions of a step known to be short; the third execution
    hangs.
    """
    hangs = f"{{{{ {hang_seconds} if input.n == {ODD} else 0 }}}}"
    workflow = publish({"tasks": [effect("work", hangSeconds=hangs, **more)]})
    assert workflow.latest_version_id is not None
    for step in compiled(workflow.latest_version_id).graph.steps:
        estimates.note_duration(step, 1.0)
    estimates.forget_capacity()  # workers started after this process may have read it
    workers = estimates.serving("default")
    assert config().pack_steps == PACK, f"a pack holds at most {config().pack_steps}"
    assert packs >= workers, f"{workers} processes serve the queue: {packs} packs are too few"
    return start_many(workflow, [{"n": n} for n in range(PACK * packs)])
