"""Runs are handed to a remote runner: picked, given their secrets, and only then told of.

Workers rendered their inputs before (`preparing`); here they are read from the row. A run whose
secrets cannot be had fails as it would in a worker.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Any, TypeVar
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db import close_old_connections
from uuid6 import uuid7

from executions.public.access import Actor
from executions.public.access import record as note_activity
from executions.public.configuration import read
from executions.public.database import transaction
from executions.public.graphs import Step, compiled, find
from executions.public.values import payloads
from runners.public.leased_runs import classify, config, look, refuse, reveal, uses_secrets
from runners.public.models import Run
from valkyr_plugins.remote import statements
from valkyr_plugins.remote.conf import RemoteSettings

# How many remote runners may wait for work.


@lru_cache(maxsize=1)
def waiters() -> int:
    """How many remote runners one process lets wait at once; read at first use."""
    return read(RemoteSettings).remote_waiters


# A lease as its holder knows it: the run's token, signed together with the run.
#
# The number alone is the fence; the signature keeps one runner from guessing another's.


_SALT = "valkyr.lease"


def token_of(run_id: UUID, number: int) -> str:
    """What the holder of a lease shows with everything it reports."""
    return _signer().sign_object([run_id.hex, number])


def number_of(run_id: UUID, token: str) -> int | None:
    """The fencing number in a token; None for one that is not ours, or of another run."""
    try:
        run, number = _signer().unsign_object(token)
    except (BadSignature, ValueError, TypeError):
        return None
    return int(number) if run == run_id.hex else None


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=".")


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


# Waiting for work on behalf of a remote runner that asked to be kept waiting.
#
# A waiter holds a thread and no database connection; only so many wait at once in a process.


T = TypeVar("T")
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0


def poll(look: Callable[[], list[T]], seconds: float, gone: Callable[[], bool]) -> list[T]:
    """What `look` finds, as soon as it is something; nothing after `seconds`.

    Where too many wait already, what the first look found. Once its client is `gone` nothing is
    looked for: what is found is taken, and would be nobody's until its lease is over.
    """
    found = look()
    if found or seconds <= 0 or not _seats().acquire(blocking=False):
        return found
    try:
        return _wait(look, time.monotonic() + seconds, gone)
    finally:
        _seats().release()


def _wait(look: Callable[[], list[T]], until: float, gone: Callable[[], bool]) -> list[T]:
    pause = FIRST_PAUSE
    while (left := until - time.monotonic()) > 0 and not gone():
        # The pool lends the connection to others meanwhile.
        close_old_connections()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
        if not gone() and (found := look()):
            return found
    return []


@lru_cache(maxsize=1)
def _seats() -> BoundedSemaphore:
    return BoundedSemaphore(waiters())


# Remote runners are listed like workers: who asks for work, for which queues, and when last.


# A superuser may run for every workspace there is.
MOST_WORKSPACES = 100


def note(runner: str, workspaces: Sequence[UUID], queues: Sequence[str], host: str) -> None:
    """List a remote runner in the workspaces it works for, the first hundred, as seen now."""
    listed = list(workspaces[:MOST_WORKSPACES])
    statements.fetch(
        "runner",
        {
            "runner": runner,
            "host": host,
            "queues": json.dumps(sorted(queues)),
            "ids": [uuid7() for _ in listed],
            "workspaces": listed,
        },
    )
