"""Runs are handed to a remote runner: reserved, given their secrets, asked of their gates, leased.

Workers rendered their inputs before (`preparing`); here they are read from the row. A run whose
secrets cannot be had fails as it would in a worker; one that a gate holds back sleeps or fails as
there, and is never leased.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Any, TypeVar
from uuid import UUID

from django.core.signing import BadSignature, Signer
from uuid6 import uuid7

from executions.public.access import Actor
from executions.public.access import record as note_activity
from executions.public.configuration import read
from executions.public.database import step_aside, transaction
from executions.public.graphs import compiled, find
from executions.public.values import payloads
from runners.public.gates import Asked
from runners.public.leased_runs import (
    Leasable,
    LeasePassage,
    SegmentContext,
    Wait,
    ask_all,
    config,
    held_seconds,
    keep,
    look,
    question,
    reveal,
    turn_away,
    uses_secrets,
)
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
ROUNDS = 10
PAUSE = 0.02


@dataclass(frozen=True, slots=True, repr=False)
class Leased:
    """A run in a remote runner's hands: its row, real inputs, token and time-outs in seconds."""

    run: Run
    inputs: Any
    credential: Any  # the fields of the one the step names, or None
    token: str
    timeout_seconds: float
    target_timeout_seconds: float | None  # of a call of the step's target, where a rule says so


@dataclass(frozen=True, slots=True, repr=False)
class _Reserved:
    """A row of `reserve.sql`."""

    run_id: UUID
    execution_id: UUID
    epoch: int
    priority: int
    version_id: UUID
    principal_id: Any
    path: str
    number: int
    holder: str
    attempt: int
    waits_for: str
    wake: Any
    inputs: Any
    secret_places: Any


@dataclass(frozen=True, slots=True, repr=False)
class _Ready:
    """A run whose secrets were read, with what its gates are asked."""

    run: Leasable
    asked: Asked

    @property
    def key(self) -> tuple[UUID, int]:
        """The run, and the token of its lease."""
        return self.run.run_id, self.run.token


def lease(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int, *, actor: Actor
) -> list[Leased]:
    """At most `limit` runs of these queues and workspaces, now held by the runner; maybe none.

    A run is leased in the transaction in which all gates let it through and their permits are
    written. Secrets that leave with it are a line of the audit trail.
    """
    for _ in range(ROUNDS):
        seen, reserved = _reserve(runner, workspaces, queues, limit)
        if not seen:
            break
        leased = _hand_out(reserved, actor) if reserved else []
        if leased:
            return leased
        # Others lease or plan what is there, or gates hold it back: look again.
        time.sleep(PAUSE)
    return []


def _reserve(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int
) -> tuple[int, list[_Reserved]]:
    """How many runs were seen, and those that are reserved now.

    Runs of executions that somebody plans at this moment are passed over.
    """
    found = statements.fetch(
        "reserve",
        {
            "runner": runner,
            "workspaces": list(workspaces),
            "queues": sorted(set(queues)),
            "limit": limit,
            "looked": limit + SLACK,
            "lease": config().lease,
        },
    )
    return found[0][0], [_Reserved(*row[1:]) for row in found if row[1] is not None]


def _hand_out(reserved: Sequence[_Reserved], actor: Actor) -> list[Leased]:
    """Lease what may be leased now; put to sleep or fail what its gates hold back."""
    left = {(one.run_id, one.number) for one in reserved}
    try:
        ready = [one for one in map(_make_ready, reserved) if one is not None]
        leased, refused = _lease(ready, actor) if ready else ([], [])
        left -= {(one.run.pk, one.run.lease_token) for one in leased}
        for one, answer in refused:
            turn_away(one.run, answer)
    finally:
        if left:
            statements.fetch("unreserve", {"rows": _rows(left)})
    return leased


def _make_ready(reserved: _Reserved) -> _Ready | None:
    """The run with its real inputs, which are for the runner alone; None where it failed."""
    version = compiled(reserved.version_id)
    _, step = find(version.graph, reserved.path)
    run = Leasable(
        context=SegmentContext(
            reserved.execution_id,
            version,
            reserved.epoch,
            reserved.priority,
            principal_id=reserved.principal_id,
        ),
        run_id=reserved.run_id,
        token=reserved.number,
        holder=reserved.holder,
        path=reserved.path,
        step=step,
        attempt=reserved.attempt,
        inputs=reserved.inputs,
        held_seconds=held_seconds(reserved.waits_for, reserved.wake),
    )
    try:
        if uses_secrets(step):
            looked = look(run.run_id)
            if looked is None:  # its execution was rolled back just now
                return None
            run = replace(run, revealed=reveal(looked, run.inputs, reserved.secret_places))
        return _Ready(run, question(run))
    except Exception as error:
        turn_away(run, error)
        return None


def _lease(
    ready: Sequence[_Ready], actor: Actor
) -> tuple[list[Leased], list[tuple[_Ready, Wait | Exception]]]:
    """Those that are leased now, and those that a gate held back; the others may be later.

    One transaction: a run is seen as leased with the permits of its gates, or not at all.
    """
    passed: list[tuple[_Ready, LeasePassage]] = []
    refused: list[tuple[_Ready, Wait | Exception]] = []
    with transaction.atomic():
        rows = statements.fetch("still_reserved", {"rows": _rows(one.key for one in ready)})
        locked = {row[0] for row in rows}
        asking = [one for one in ready if one.run.run_id in locked]
        for one, answer in zip(asking, ask_all([one.asked for one in asking]), strict=True):
            if isinstance(answer, LeasePassage):
                passed.append((one, answer))
            else:
                refused.append((one, answer))
        if passed:
            keep((*one.key, passage) for one, passage in passed)
            _begin([one for one, _ in passed], actor)
    runs = Run.objects.defer("inputs", "outputs", "logs").in_bulk(
        [one.run.run_id for one, _ in passed]
    )
    return [_leased(one, runs[one.run.run_id], passage) for one, passage in passed], refused


def _begin(ready: Sequence[_Ready], actor: Actor) -> None:
    """Write the leases of locked runs, and which secrets leave with them."""
    limits = config()
    rows = [
        {
            "id": str(one.run.run_id),
            "token": one.run.token,
            "holder": one.run.holder,
            "timeout": one.run.step.timeout_seconds,
        }
        for one in ready
    ]
    statements.fetch(
        "lease",
        {
            "rows": payloads.dump(rows, "leased runs"),
            "lease": limits.lease,
            "grace": limits.grace,
        },
    )
    for one in ready:
        if uses_secrets(one.run.step):
            _note(one.run, actor)


def _leased(ready: _Ready, row: Run, passage: LeasePassage) -> Leased:
    run, revealed = ready.run, ready.run.revealed
    credential = None if revealed is None else revealed.credential
    return Leased(
        run=row,
        inputs=run.inputs if revealed is None else revealed.inputs,
        credential=None if credential is None else dict(credential),
        token=token_of(run.run_id, run.token),
        timeout_seconds=run.step.timeout_seconds,
        target_timeout_seconds=passage.timeout,
    )


def _rows(keys: Iterable[tuple[UUID, int]]) -> str:
    rows = [{"id": str(run_id), "token": token} for run_id, token in keys]
    return payloads.dump(rows, "reserved runs")


def _note(run: Leasable, actor: Actor) -> None:
    step = run.step
    names = {name for name, _ in step.secrets} | ({step.credential} if step.credential else set())
    note_activity(
        actor,
        "run.lease",
        workspace_id=run.context.version.workspace_id,
        object_type="Run",
        object_id=run.run_id,
        details={
            "step": run.path,
            "runner": run.holder,
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
        step_aside()
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
