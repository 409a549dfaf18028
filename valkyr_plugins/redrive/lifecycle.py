"""The only writer of a redrive's state: one guarded move a function, under the redrive's lock.

That lock comes before all others; whoever drives holds it for one batch at a time.
"""

from typing import Any
from uuid import UUID

from django.db import connection, transaction

from dlq.public.events import StoppedRedrive, redrive_stopped
from dlq.public.models import DeadLetterEntry
from dlq.public.resolving import begin_redrive, end_redrive
from executions.public.access import Actor, record
from executions.public.database import AdvisoryLock, ClockTimestamp
from executions.public.errors import NotFound, WrongState
from valkyr_plugins.redrive import statements
from valkyr_plugins.redrive.models import Redrive, RedriveItem
from valkyr_plugins.redrive.states import MOVES, ItemState, RedriveState

State = RedriveState
# Written out, not looked up: that would load every page of the admin into a worker.
PAGE = "/admin/valkyr_redrive/redrive/{}/change/"
DRIVER = Actor.system("redrives")
# A lock of transactions that hold entries of one workspace, so that no two hold the same one.
HOLDING = "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))"


def start(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Hold its entries and let it run; who is held by another redrive is skipped.

    Raises NotFound, WrongState.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "start", State.RUNNING, State.DRAFT)
        with connection.cursor() as cursor:
            cursor.execute(
                HOLDING, [f"redrives of {redrive.workspace_id}", AdvisoryLock.REDRIVE_HOLDS]
            )
        redrive.skipped = _hold(redrive)
        _move(redrive, State.RUNNING, started_at=ClockTimestamp(), busy=True)
        begin_redrive(_groups(redrive))
        _note(redrive, "start", actor, reason or redrive.reason, State.DRAFT)
    return _fresh(redrive_id)


def pause(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Send nothing more for now; what was sent goes on. Raises NotFound, WrongState."""
    with transaction.atomic():
        redrive = _locked(redrive_id, "pause", State.PAUSED)
        before = redrive.state
        _move(redrive, State.PAUSED)
        _note(redrive, "pause", actor, reason, before)
    return _fresh(redrive_id)


def resume(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Go on where a pause or too many failures stopped it. Raises NotFound, WrongState.

    Failures are counted anew, and the canaries have had their turn.
    """
    with transaction.atomic():
        redrive = _locked(redrive_id, "resume", State.RUNNING, State.PAUSED, State.STOPPED)
        before = redrive.state
        changes: dict[str, Any] = {"pace_since": None, "pace_sent": 0, "busy": True}
        if before == State.STOPPED:
            changes |= {"recent": "", "stop_reason": ""}
            begin_redrive(_groups(redrive))
        _move(redrive, State.RUNNING, **changes)
        _note(redrive, "resume", actor, reason, before)
    return _fresh(redrive_id)


def abort(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Send nothing more, ever; what was sent goes on. Raises NotFound, WrongState."""
    with transaction.atomic():
        redrive = _locked(redrive_id, "abort", State.ABORTED)
        before = redrive.state
        RedriveItem.objects.filter(redrive=redrive, state=ItemState.QUEUED).update(
            state=ItemState.ABORTED, active=None, ended_at=ClockTimestamp()
        )
        _move(redrive, State.ABORTED, finished_at=ClockTimestamp(), busy=redrive.running > 0)
        if before in {State.RUNNING, State.PAUSED}:
            end_redrive(_groups(redrive), False)
        _note(redrive, "abort", actor, reason, before)
    return _fresh(redrive_id)


def stop(redrive: Redrive, reason: str) -> None:
    """RUNNING → STOPPED by its failures; the caller holds the redrive's lock."""
    _move(redrive, State.STOPPED, stop_reason=reason)
    end_redrive(_groups(redrive), False)
    _note(redrive, "stop", DRIVER, reason, State.RUNNING)
    redrive_stopped.send(
        Redrive,
        stopped=StoppedRedrive(
            redrive_id=redrive.pk,
            workspace_id=redrive.workspace_id,
            group_id=redrive.group_id,
            total=redrive.total,
            created_by=redrive.created_by_name,
            reason=reason,
            path=PAGE.format(redrive.pk),
        ),
    )


def finish(redrive: Redrive) -> None:
    """RUNNING → DONE, once nothing is left; the caller holds the redrive's lock."""
    _move(redrive, State.DONE, finished_at=ClockTimestamp(), busy=False)
    end_redrive(_groups(redrive), redrive.succeeded > 0 and redrive.failed_again == 0)
    _note(redrive, "done", DRIVER, "", State.RUNNING)


def _locked(redrive_id: UUID, verb: str, target: RedriveState, *sources: RedriveState) -> Redrive:
    """The redrive, locked, if it may go to `target` from where it is (and from `sources` alone)."""
    redrive = Redrive.objects.select_for_update(no_key=True).filter(pk=redrive_id).first()
    if redrive is None:
        raise NotFound(f"There is no redrive {redrive_id}.")
    allowed = sources or [state for state in State if target in MOVES[state]]
    if redrive.state not in allowed:
        raise WrongState(
            f"Redrive {redrive_id} cannot {verb}: it is {redrive.state}, and must be "
            f"{' or '.join(allowed)}.",
            redrive.state,
        )
    return redrive


def _move(redrive: Redrive, target: RedriveState, **changes: Any) -> None:
    moved = Redrive.objects.filter(pk=redrive.pk, state=redrive.state).update(
        state=target, skipped=redrive.skipped, **changes
    )
    assert moved == 1, "the row is locked"
    redrive.state = target


def _groups(redrive: Redrive) -> list[UUID]:
    """The groups whose entries it sends; one query."""
    entries = DeadLetterEntry.objects.filter(redrive_items__redrive=redrive)
    return list(entries.order_by("group_id").values_list("group_id", flat=True).distinct())


def _note(redrive: Redrive, verb: str, actor: Actor, reason: str, before: str) -> None:
    record(
        actor,
        f"redrive.{verb}",
        workspace_id=redrive.workspace_id,
        object_type=Redrive.AUDITED_AS,
        object_id=redrive.pk,
        reason=reason,
        before={"state": str(before)},
        after={"state": str(redrive.state)},
    )


def _fresh(redrive_id: UUID) -> Redrive:
    return Redrive.objects.get(pk=redrive_id)


def _hold(redrive: Redrive) -> int:
    """Hold what is still open and free; the rest is skipped, with the reason. How many were.

    The caller has made sure that nobody else holds entries of the workspace at the same time.
    """
    row = statements.fetch_one("hold", {"redrive": redrive.pk})
    assert row is not None, "it counts"
    return int(row[0])
