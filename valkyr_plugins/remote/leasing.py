"""Runs are handed to a remote runner: picked, given their secrets, and only then told of.

Workers rendered their inputs before (`preparing`); here they are read from the row. A run whose
secrets cannot be had fails as it would in a worker.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from executions.public.access import Actor
from executions.public.access import record as note_activity
from executions.public.graphs import Step, compiled, find
from executions.public.values import payloads
from runners.public.leased_runs import classify, config, look, refuse, reveal, uses_secrets
from runners.public.models import Run
from valkyr_plugins.remote import statements
from valkyr_plugins.remote.tokens import token_of

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


@dataclass(frozen=True, slots=True, repr=False)
class _Picked:
    run_id: UUID
    version_id: UUID
    path: str
    number: int
    holder: str
    inputs: Any
    secret_places: Any


@dataclass(frozen=True, slots=True, repr=False)
class _Made:
    picked: _Picked
    step: Step
    workspace_id: UUID
    inputs: Any
    credential: Any = None


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
            "lease",
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
    """The run with its real inputs, which are for the runner alone; None where it failed."""
    version = compiled(picked.version_id)
    _, step = find(version.graph, picked.path)
    made = _Made(picked, step, version.workspace_id, picked.inputs)
    if not uses_secrets(step):
        return made
    looked = look(picked.run_id)
    if looked is None:  # its execution was rolled back just now
        return None
    try:
        real = reveal(looked, picked.inputs, picked.secret_places)
    except Exception as error:
        refuse(looked, picked.number, classify(error))
        return None
    credential = None if real.credential is None else dict(real.credential)
    return replace(made, inputs=real.inputs, credential=credential)


def _hand_out(made: list[_Made], actor: Actor) -> list[Leased]:
    limits = config()
    rows = [
        {
            "id": str(one.picked.run_id),
            "token": one.picked.number,
            "timeout": one.step.timeout_seconds,
        }
        for one in made
    ]
    with transaction.atomic():
        kept = statements.fetch(
            "ready",
            {
                "rows": payloads.dump(rows, "leased runs"),
                "lease": limits.lease,
                "grace": limits.grace,
            },
        )
        ids = {row[0] for row in kept}
        for one in made:
            if one.picked.run_id in ids and uses_secrets(one.step):
                _note(one, actor)
    runs = Run.objects.defer("inputs", "outputs", "logs").in_bulk(ids)
    return [
        Leased(
            run=runs[one.picked.run_id],
            inputs=one.inputs,
            credential=one.credential,
            token=token_of(one.picked.run_id, one.picked.number),
            timeout_seconds=one.step.timeout_seconds,
        )
        for one in made
        if one.picked.run_id in runs
    ]


def _note(one: _Made, actor: Actor) -> None:
    step = one.step
    names = {name for name, _ in step.secrets} | ({step.credential} if step.credential else set())
    note_activity(
        actor,
        "run.lease",
        workspace_id=one.workspace_id,
        object_type="Run",
        object_id=one.picked.run_id,
        details={
            "step": one.picked.path,
            "runner": one.picked.holder,
            "secrets": sorted(names),
        },
    )
