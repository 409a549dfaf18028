"""The move of a workspace: its phases in order. An interrupted phase can be repeated."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, connections
from django.db.migrations.executor import MigrationExecutor

from executions.access.actor import Actor, record
from executions.database import routing, transaction
from executions.database.advisory_locks import AdvisoryLock, alone
from executions.database.clock import ClockTimestamp
from executions.models import Workspace, WorkspaceMove
from executions.states import MoveState
from runners.moving import accounts_and_keys, cleaning, copying, cutover, fence
from runners.moving.cutover import PauseTooLong
from runners.moving.fence import MoveGate
from runners.moving.sessions import MoveSessions, opened, without_retention
from runners.moving.tables import MoveKind, of_kind

__all__ = ["MoveEstimate", "MoveRefused", "PauseTooLong", "abort", "estimate", "find", "move"]

Tell = Callable[[str], None]
PAUSE_SECONDS = 4.5
PATIENCE_SECONDS = 3.0  # maximum wait for another move; a killed command's session ends soon
# Maximum rounds of copying changes before the pause; a round with fewer changes is the last.
ROUNDS, FEW = 20, 200
ROWS_PER_SECOND = 20_000  # estimated rate of a copy, including its comparison


class MoveRefused(Exception):
    """The move is not possible; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class MoveEstimate:
    """The size of a move: ended executions to copy before the pause, and rows to copy during it."""

    workspace: Workspace
    source: str
    ended: int
    paused: dict[str, int]

    @property
    def pause_seconds(self) -> float:
        """Return the estimated seconds of the pause, including the time for running steps."""
        return fence.DRAIN_SECONDS + sum(self.paused.values()) / ROWS_PER_SECOND


def find(name: str) -> tuple[Workspace, str]:
    """Return a workspace by ID or slug, and its cell. Raises MoveRefused if there is none."""
    places = _places()
    for of in routing.aliases():
        cell = routing.cell_of(of)
        for row in Workspace.objects.using(of).filter(**_by(name)):
            if places.get(row.pk, cell) == cell:  # otherwise a move has left this row behind
                return row, cell
    raise MoveRefused(f"No cell has a workspace {name!r}. Give its id or slug.")


def estimate(name: str, target: str) -> MoveEstimate:
    """Return the estimate of a move; change nothing. Raises MoveRefused or NotAllowed."""
    workspace, source = find(name)
    _refuse(source, target)
    with opened(routing.alias_of(source), routing.alias_of(target)) as sessions:
        given = {"workspace": workspace.pk}
        counts = {}
        for table in of_kind(MoveKind.WHOLE, MoveKind.EXECUTION):
            counts[table.name] = copying.digest(sessions.source, table, table.paused, given)[0]
        row = sessions.source.execute(
            f"SELECT count(*) FROM {copying.EXECUTIONS}"
            " WHERE workspace_id = %s AND finished_at IS NOT NULL",
            [workspace.pk],
        ).fetchone()
    return MoveEstimate(workspace, source, row[0] if row else 0, counts)


def move(name: str, target: str, tell: Tell, *, pause_seconds: float = PAUSE_SECONDS) -> None:
    """Move a workspace to the target, or continue its unfinished move.

    Raises MoveRefused, NotAllowed, StillWriting, PauseTooLong or RowsDiffer.
    """
    with _alone():
        row = _open(name, target, tell)
        ends = routing.alias_of(row.source), routing.alias_of(row.target)
        with opened(*ends) as sessions, without_retention(sessions):
            if not cutover.is_cut_over(sessions.target_alias, row):
                _copy_and_cut_over(sessions, row, tell, pause_seconds)
            _finish(sessions, row, tell)


def abort(name: str, tell: Tell) -> None:
    """Undo a workspace's move before the switch, except for copied accounts, keys and tiers.

    Raises MoveRefused if the workspace has no unfinished move, or is already in the target.
    """
    with _alone():
        row = _unfinished(name)
        if row is None:
            raise MoveRefused(f"No move of a workspace {name!r} is unfinished.")
        ends = routing.alias_of(row.source), routing.alias_of(row.target)
        with opened(*ends) as sessions, without_retention(sessions):
            if cutover.is_cut_over(sessions.target_alias, row):
                raise MoveRefused(
                    "The workspace is in the target already. Run `valkyr_cells move` again to "
                    "finish, then move it back."
                )
            fence.remove(sessions.source)
            sessions.source.execute(cutover.SENT_AGAIN, {"workspace": row.workspace_id})
            tell("the workspace continues at the source")
            number = cleaning.remove_executions(sessions.target, row.workspace_id)
            tell(f"{number} copied executions removed from the target")
        _note(row, state=MoveState.ABORTED, ended_at=ClockTimestamp())


def _copy_and_cut_over(
    sessions: MoveSessions, row: WorkspaceMove, tell: Tell, pause_seconds: float
) -> None:
    workspace = row.workspace_id
    tier = Workspace.objects.using(sessions.source_alias).get(pk=workspace).tier_id
    other = fence.installed(sessions.source)
    if other is not None and other != workspace:
        raise MoveRefused(f"The workspace {other} moves from the same cell. Finish that first.")
    fence.install(sessions.source, workspace)
    mark = copying.ExecutionMark(row.mark_at, row.mark) if row.mark and row.mark_at else None
    while found := copying.copy_ended(sessions, workspace, mark):
        mark, number = found
        row.copied += number
        _note(row, mark=mark.id, mark_at=mark.at, copied=row.copied)
        tell(f"{row.copied} ended executions copied")
    for _ in range(ROUNDS):
        number = copying.catch_up(sessions)
        tell(f"{number} changed executions copied again")
        if number < FEW:
            break
    accounts_and_keys.copy_accounts(sessions, workspace)
    accounts_and_keys.copy_keys(sessions)
    tier = accounts_and_keys.tier_in(sessions, tier)
    began = time.monotonic()
    try:
        running = fence.pause(sessions.source, workspace)
        tell(f"paused; {running} running steps will run again")
        accounts_and_keys.copy_accounts(sessions, workspace, paused=True)
        left = pause_seconds - (time.monotonic() - began)
        cutover.cut_over(sessions, row, tier, left, tell)
    except BaseException:
        _reopen(sessions, row)
        raise
    tell("cut over to the target")
    took = round((time.monotonic() - began) * 1000)
    _note(row, state=MoveState.SWITCHED, switched_at=ClockTimestamp(), pause_ms=took)
    tell(f"the workspace is in {row.target or 'the first database'}; the pause was {took} ms")


def _reopen(sessions: MoveSessions, row: WorkspaceMove) -> None:
    """Let the workspace continue at the source, unless it is already in the target."""
    if not cutover.is_cut_over(sessions.target_alias, row):
        fence.set_gate(sessions.source, MoveGate.OPEN)
        sessions.source.execute(cutover.SENT_AGAIN, {"workspace": row.workspace_id})


def _finish(sessions: MoveSessions, row: WorkspaceMove, tell: Tell) -> None:
    """Do the work that follows the switch. Each part of the work can be repeated."""
    if row.switched_at is None:
        _note(row, state=MoveState.SWITCHED, switched_at=ClockTimestamp())
    accounts_and_keys.copy_schedules(sessions, row.workspace_id)
    accounts_and_keys.remove_schedules(sessions, row.workspace_id)
    cleaning.copy_late(sessions, row.workspace_id, tell)
    cleaning.remove_source(sessions, row.workspace_id, tell)
    fence.remove(sessions.source)
    _record_once(sessions, row)
    tell("recorded in the audit trail")
    _note(row, state=MoveState.DONE, ended_at=ClockTimestamp())


def _record_once(sessions: MoveSessions, row: WorkspaceMove) -> None:
    """Record the move in the target's audit trail once, and mark the target's row as done."""
    with routing.serving(sessions.target_alias), transaction.atomic():
        receipts = WorkspaceMove.objects.using(sessions.target_alias).filter(pk=row.pk)
        if receipts.exclude(state=MoveState.DONE).update(state=MoveState.DONE):
            record(
                Actor.of_command(),
                "workspace.move",
                workspace_id=row.workspace_id,
                object_type="Workspace",
                object_id=row.workspace_id,
                before={"cell": row.source},
                after={"cell": row.target},
                details={"pauseMs": row.pause_ms, "copied": row.copied},
            )


def _open(name: str, target: str, tell: Tell) -> WorkspaceMove:
    row = _unfinished(name)
    if row is not None:
        if row.target != target:
            raise MoveRefused(
                f"The workspace moves to {row.target or 'the first database'} already. Finish that "
                "move, or abort it."
            )
        tell("going on with the move")
        return row
    workspace, source = find(name)
    _refuse(source, target)
    try:
        return WorkspaceMove.objects.create(workspace_id=workspace.pk, source=source, target=target)
    except IntegrityError:
        raise MoveRefused("Another move of the workspace has begun.") from None


def _refuse(source: str, target: str) -> None:
    """Raise MoveRefused unless the workspace can move between these cells."""
    if source == target:
        raise MoveRefused("The workspace is in that cell already.")
    for cell in (source, target):
        executor = MigrationExecutor(connections[routing.alias_of(cell)])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise MoveRefused(
                f"{cell or 'The first database'} lacks migrations. Migrate it first: both "
                "databases need the same tables."
            )


def _unfinished(name: str) -> WorkspaceMove | None:
    rows = WorkspaceMove.objects.filter(ended_at=None)
    for row in rows:
        here = Workspace.objects.using(routing.alias_of(row.source)).filter(pk=row.workspace_id)
        if here.filter(**_by(name)).exists() or str(row.workspace_id) == name:
            return row
    return None


def _by(name: str) -> dict[str, object]:
    try:
        return {"pk": UUID(name)}
    except ValueError:
        return {"slug": name}


def _places() -> dict[UUID, str]:
    """Return the current cell of each workspace that was moved, keyed by workspace ID."""
    rows = WorkspaceMove.objects.exclude(switched_at=None).order_by("switched_at")
    return dict(rows.values_list("workspace_id", "target"))


def _note(row: WorkspaceMove, **values: object) -> None:
    """Update the move's row in the first database, and `row`; the times are that database's."""
    WorkspaceMove.objects.filter(pk=row.pk).update(**values)
    row.refresh_from_db(fields=[*values])


@contextmanager
def _alone() -> Iterator[None]:
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        with routing.serving(routing.first()), alone(AdvisoryLock.WORKSPACE_MOVE) as free:
            if free:
                yield
                return
        if time.monotonic() > until:
            raise MoveRefused("Another move is running. Wait until it ends.")
        time.sleep(0.2)
