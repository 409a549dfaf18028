"""Lease runs to a remote runner: reserve runs, read their secrets, check their gates, write leases.

Workers have already rendered the inputs, which are read from the row here. A run whose inputs or
secrets cannot be read fails, as it would in a worker. A run that does not pass its gates waits or
fails, as it would in a worker.
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

from executions.public.access import Actor
from executions.public.access import record as note_activity
from executions.public.configuration import read
from executions.public.database import step_aside, transaction, uuid7
from executions.public.graphs import compiled, find
from executions.public.sealing import opened
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

# The limit on remote runners that wait for work.


@lru_cache(maxsize=1)
def waiters() -> int:
    """Return the number of remote runners that may wait at once in one process."""
    return read(RemoteSettings).remote_waiters


# The token of a lease that its holder gets: the run's fencing token, signed together with the run's
# ID.
#
# Only the number is used to fence. The signature prevents a runner from guessing another runner's
# token.


_SALT = "valkyr.lease"


def token_of(run_id: UUID, number: int) -> str:
    """Return the token that the holder of a lease must send with every heartbeat and report."""
    return _signer().sign_object([run_id.hex, number])


def number_of(run_id: UUID, token: str) -> int | None:
    """Return the fencing number in a token; None if it is invalid or belongs to another run."""
    try:
        run, number = _signer().unsign_object(token)
    except (BadSignature, ValueError, TypeError):
        return None
    return int(number) if run == run_id.hex else None


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=".")


SLACK = 100  # additional candidates, because other runners may be about to take as many
ROUNDS = 10
PAUSE = 0.02


@dataclass(frozen=True, slots=True, repr=False)
class Leased:
    """A leased run: its row, inputs, credential, token and timeouts in seconds."""

    run: Run
    inputs: Any
    credential: Any  # the fields of the step's credential, or None
    token: str
    timeout_seconds: float
    # Timeout of a call of the step's target, if a rule sets one.
    target_timeout_seconds: float | None


@dataclass(frozen=True, slots=True, repr=False)
class _Reserved:
    """A row of the result of `reserve_runs.sql`."""

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
    """A run whose secrets were read, with the request to its gates."""

    run: Leasable
    asked: Asked

    @property
    def key(self) -> tuple[UUID, int]:
        """Return the run's ID and its fencing number."""
        return self.run.run_id, self.run.token


def lease(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int, *, actor: Actor
) -> list[Leased]:
    """Lease at most `limit` runs of these queues and workspaces to the runner; return them.

    The list may be empty. A run is leased in the transaction in which all gates let it through and
    their permits are written. The audit trail records the names of the secrets sent with the run.
    """
    for _ in range(ROUNDS):
        seen, reserved = _reserve(runner, workspaces, queues, limit)
        if not seen:
            break
        leased = _hand_out(reserved, actor) if reserved else []
        if leased:
            return leased
        # Other runners lease or plan these runs, or gates hold them. Try again.
        time.sleep(PAUSE)
    return []


def _reserve(
    runner: str, workspaces: Sequence[UUID], queues: Sequence[str], limit: int
) -> tuple[int, list[_Reserved]]:
    """Reserve runs; return the number of candidates found, and the reserved runs.

    Skips runs that another runner is reserving, and runs of executions that a worker is planning.
    """
    found = statements.fetch(
        "reserve_runs",
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
    """Lease and return the runs that pass their gates; suspend, fail or release the other runs."""
    left = {(one.run_id, one.execution_id, one.number) for one in reserved}
    try:
        ready = [one for one in map(_make_ready, reserved) if one is not None]
        leased, refused = _lease(ready, actor) if ready else ([], [])
        left -= {(one.run.pk, one.run.execution_id, one.run.lease_token) for one in leased}
        for one, answer in refused:
            turn_away(one.run, answer)
    finally:
        if left:
            statements.fetch("release_reservations", {"rows": _rows(left)})
    return leased


def _make_ready(reserved: _Reserved) -> _Ready | None:
    """Return the run with its secrets; None if its execution was rolled back, or the run failed."""
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
        inputs=None,
        held_seconds=held_seconds(reserved.waits_for, reserved.wake),
    )
    try:
        inputs = opened(reserved.execution_id, reserved.inputs, "inputs", reserved.path)
        run = replace(run, inputs=inputs)
        if uses_secrets(step):
            looked = look(reserved.execution_id, run.run_id)
            if looked is None:  # the execution was rolled back just now
                return None
            run = replace(run, revealed=reveal(looked, run.inputs, reserved.secret_places))
        return _Ready(run, question(run))
    except Exception as error:
        turn_away(run, error)
        return None


def _lease(
    ready: Sequence[_Ready], actor: Actor
) -> tuple[list[Leased], list[tuple[_Ready, Wait | Exception]]]:
    """Lease runs; return them, and each run that did not pass its gates, with the gates' answer.

    Runs that are no longer reserved are in neither list, nor are runs of executions that are not
    running or are locked. Uses one transaction: a run becomes visible as leased together with its
    gates' permits.
    """
    passed: list[tuple[_Ready, LeasePassage]] = []
    refused: list[tuple[_Ready, Wait | Exception]] = []
    with transaction.atomic():
        rows = statements.fetch(
            "lock_reserved_runs",
            {
                "rows": _rows(
                    (one.run.run_id, one.run.context.execution_id, one.run.token) for one in ready
                )
            },
        )
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
    """Write the leases of locked runs, and audit entries about the secrets that are sent."""
    limits = config()
    rows = [
        {
            "id": str(one.run.run_id),
            "execution": str(one.run.context.execution_id),
            "token": one.run.token,
            "holder": one.run.holder,
            "timeout": one.run.step.timeout_seconds,
        }
        for one in ready
    ]
    statements.fetch(
        "lease_reserved_runs",
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


def _rows(keys: Iterable[tuple[UUID, UUID, int]]) -> str:
    rows = [
        {"id": str(run_id), "execution": str(execution_id), "token": token}
        for run_id, execution_id, token in keys
    ]
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


# Wait for work during a remote runner's long poll.
#
# A waiting request holds a thread, but no database connection. Their number per process is limited.


T = TypeVar("T")
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0


def poll(look: Callable[[], list[T]], seconds: float, gone: Callable[[], bool]) -> list[T]:
    """Return the result of `look` as soon as it is not empty; [] after `seconds`.

    If too many requests are waiting, return the first result at once. Stop once the client is
    `gone`: a run that is found later would stay leased, without a runner, until its lease expires.
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


# List remote runners like workers: which runner requested work, for which queues, and when last.


# Limit for superusers, who may run steps of every workspace.
MOST_WORKSPACES = 100


def note(runner: str, workspaces: Sequence[UUID], queues: Sequence[str], host: str) -> None:
    """Record that a remote runner was just seen, for the first hundred of its workspaces."""
    listed = list(workspaces[:MOST_WORKSPACES])
    statements.fetch(
        "record_runner_seen",
        {
            "runner": runner,
            "host": host,
            "queues": json.dumps(sorted(queues)),
            "ids": [uuid7() for _ in listed],
            "workspaces": listed,
        },
    )
