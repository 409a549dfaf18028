"""Runs are handed to a remote runner: picked, given their inputs, and only then told of.

A run whose inputs cannot be made fails as it would in a worker, and one whose result an equal step
left behind is done: neither is handed out.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from executions import payloads
from executions.actor import Actor
from executions.actor import record as note_activity
from runners import caching, leases, statements
from runners.conf import config
from runners.journey import Journey
from runners.models import Run
from runners.outcomes import classify
from runners.prepare import Prepared
from runners.releasing import release
from runners.remote.recording import record
from runners.remote.tokens import token_of
from runners.secrets import revealed, uses_secrets
from runners.states import RunState
from runners.work import Unit, Work

SLACK = 100  # candidates beyond those wanted: as many others may be about to take theirs
TRIES = 5
PAUSE = 0.02


@dataclass(frozen=True, slots=True, repr=False)
class Leased:
    """A run in a remote runner's hands: its row, real inputs, token and time-out in seconds."""

    run: Run
    inputs: Any
    credential: Any  # the fields of the one the step names, or None
    token: str
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class _Picked:
    run_id: UUID
    execution_id: UUID
    version_id: UUID
    segment: str
    number: int
    holder: str


@dataclass(frozen=True, slots=True, repr=False)
class _Made:
    work: Work
    workspace_id: UUID
    inputs: Any
    credential: Any


def lease(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int, *, actor: Actor
) -> list[Leased]:
    """At most `limit` runs of these queues and workspaces, now held by the runner; maybe none.

    Secrets that leave with them are a line of the audit trail.
    """
    picked = _pick(runner, workspaces, queues, limit)
    made = [one for one in map(_make, picked) if one is not None]
    return _hand_out(made, actor) if made else []


def _pick(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int
) -> list[_Picked]:
    """Runs of executions that somebody plans at this moment are passed over: look again."""
    for turn in range(TRIES):
        if turn:
            time.sleep(PAUSE)
        found = statements.fetch(
            "remote_lease",
            {
                "runner": runner,
                "workspaces": list(workspaces),
                "queues": sorted(set(queues)),
                "limit": limit,
                "looked": limit + SLACK,
                "lease": config().lease,
            },
        )
        picked = [_Picked(*row[1:]) for row in found if row[1] is not None]
        if picked or not found[0][0]:
            return picked
    return []


def _make(picked: _Picked) -> _Made | None:
    """What a run is to be done with; None where it is settled already, or not wanted just now."""
    found = leases.load(
        picked.execution_id, picked.version_id, picked.segment, states=(RunState.LEASED,)
    )
    if found is None or found[1].token != picked.number:
        # Paused or cancelled meanwhile; of a cancelled one nothing is left to let go of.
        _let_go(picked)
        return None
    journey, seen = found
    journey.stays, journey.hands_over = False, True
    journey.resumed = picked.number > 1 or journey.path(seen.step) != picked.segment
    prepared, failure = leases.attempt_prepare(journey, seen.step, seen.attempt, seen.overrides)
    work = Work(
        run_id=picked.run_id,
        token=picked.number,
        holder=picked.holder,
        step=seen.step,
        path=journey.path(seen.step),
        prepared=prepared,
        failure=failure,
        attempt=seen.attempt,
        budget=seen.budget,
        overrides=seen.overrides,
    )
    made = _settled(journey, work) or _revealed(journey, work)
    if isinstance(made, Unit):
        record(journey, work, made)
        return None
    return made


def _settled(journey: Journey, work: Work) -> Unit | None:
    """How the run ends without a runner, if it does."""
    if work.failure is not None or work.prepared is None:
        assert work.failure is not None
        return Unit(None, failure=work.failure)
    reused = caching.lookup(journey, work.step, work.prepared)
    if reused is None:
        return None
    journey.ended(work.step, reused.result.outcome, reused.result.outputs)
    return Unit(reused)


def _revealed(journey: Journey, work: Work) -> _Made | Unit:
    """The run with its real inputs, which are for the runner alone, or why it cannot have them."""
    rendered = _prepared(work).value
    if not uses_secrets(work.step):
        return _Made(work, journey.version.workspace_id, rendered, None)
    try:
        real = revealed(
            journey, work.step, rendered, attempt=work.attempt, overrides=work.overrides
        )
    except Exception as error:
        return Unit(None, failure=classify(error))
    credential = None if real.credential is None else dict(real.credential)
    return _Made(work, journey.version.workspace_id, real.inputs, credential)


def _let_go(picked: _Picked) -> None:
    release(picked.run_id, picked.number)


def _hand_out(made: list[_Made], actor: Actor) -> list[Leased]:
    limits = config()
    text = f"[{','.join(_row(one.work) for one in made)}]"
    with transaction.atomic():
        kept = statements.fetch(
            "remote_ready", {"rows": text, "lease": limits.lease, "grace": limits.grace}
        )
        ids = {row[0] for row in kept}
        for one in made:
            if one.work.run_id in ids and uses_secrets(one.work.step):
                _note(one, actor)
    runs = Run.objects.defer("inputs", "outputs", "logs").in_bulk(ids)
    return [
        Leased(
            run=runs[one.work.run_id],
            inputs=one.inputs,
            credential=one.credential,
            token=token_of(one.work.run_id, one.work.token),
            timeout_seconds=one.work.step.timeout_seconds,
        )
        for one in made
        if one.work.run_id in runs
    ]


def _note(one: _Made, actor: Actor) -> None:
    step = one.work.step
    names = {name for name, _ in step.secrets} | ({step.credential} if step.credential else set())
    note_activity(
        actor,
        "run.lease",
        workspace_id=one.workspace_id,
        object_type="Run",
        object_id=one.work.run_id,
        details={"step": one.work.path, "runner": one.work.holder, "secrets": sorted(names)},
    )


def _row(work: Work) -> str:
    prepared = _prepared(work)
    facts = {
        "id": str(work.run_id),
        "token": work.token,
        "timeout": work.step.timeout_seconds,
        "inputs_hash": prepared.hash,
        "config_hash": work.step.config_hash,
        "key": prepared.key,
    }
    return f'{payloads.dump(facts)[:-1]},"inputs":{prepared.text}}}'


def _prepared(work: Work) -> Prepared:
    assert work.prepared is not None
    return work.prepared
