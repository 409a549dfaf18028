"""Results that equal steps reuse, even in other executions, until the results expire.

Steps are equal if they have the same module type, credential and `with` (as written and as
rendered) in the same workflow or workspace. The cache is optional: if a result is missing or cannot
be opened, the step runs.
"""

import logging
from hashlib import sha256
from typing import Any

from django.db import DatabaseError

from executions import payloads
from executions.database.ids import uuid7
from executions.definition.graph.model import CachePolicy, Step
from executions.sealing import SealBroken
from executions.sealing.payloads import open_json, seal_json
from runners import statements
from runners.modules.base import Result
from runners.segment.inputs import Prepared
from runners.segment.state import SegmentState
from runners.segment.work import Done, Unit, Work

log = logging.getLogger(__name__)

WORKSPACE = "workspace"


def lookup(state: SegmentState, step: Step, prepared: Prepared) -> Done | None:
    """Return an equal step's result, as if this step had run; None if the step must run.

    The result's `cached_from` is the run that produced it.
    """
    policy = step.cache
    if policy is None:
        return None
    row = statements.fetch_one("cached_result", _owned(state, policy, step, prepared))
    if row is None:
        return None
    run_id, outcome, outputs = row
    try:
        outputs = open_json(outputs, _place(step, prepared))
    except SealBroken as error:
        log.warning("the result of run %s cannot be reused: %s", run_id, error)
        return None
    return Done(
        step,
        state.place,
        prepared,
        Result(outputs=outputs, outcome=outcome),
        payloads.dump(outputs, "result reused"),
        0.0,
        logs=[{"ms": 0, "level": "info", "message": f"reused the result of run {run_id}"}],
        cached_from=run_id,
    )


def store(state: SegmentState, work: Work, unit: Unit) -> None:
    """Store a recorded step's own result, if the step has a cache policy.

    A result in object storage is not reused, because it belongs to one execution. Database errors
    are not raised: the step is recorded even if the cache fails.
    """
    policy, done = work.step.cache, unit.head
    if policy is None or done is None or done.cached_from is not None or done.stored:
        return
    try:
        statements.fetch(
            "store_cached_result",
            {
                **_owned(state, policy, done.step, done.prepared),
                "id": uuid7(),
                "run": work.run_id,
                "outcome": done.result.outcome,
                "outputs": seal_json(
                    done.outputs, _place(done.step, done.prepared), state.context.sealer.key
                ),
                "seconds": policy.ttl_seconds,
            },
        )
    except DatabaseError as error:
        log.warning("the result of run %s is not cached: %s", work.run_id, error)


def key(step: Step, inputs_hash: str) -> str:
    """Return the key of equal steps: SHA-256 (hex) of module type, config hash and inputs hash."""
    return sha256(f"{step.module}\n{step.config_hash}\n{inputs_hash}".encode()).hexdigest()


def _place(step: Step, prepared: Prepared) -> str:
    """Return the text to which a sealed result is bound: its key, without an execution."""
    return f"cached {key(step, prepared.hash)}||outputs"


def _owned(
    state: SegmentState, policy: CachePolicy, step: Step, prepared: Prepared
) -> dict[str, Any]:
    return {
        "workflow": state.context.version.workflow_id,
        "shared": policy.scope == WORKSPACE,
        "key": key(step, prepared.hash),
    }
