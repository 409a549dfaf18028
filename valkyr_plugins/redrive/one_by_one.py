"""Entries that are sent each in a transaction of its own.

Steps whose execution needs locks before its own (a place of a limited workspace, a concurrency
key), and new executions. Lock order: redrive, workspace, keys, executions, dead letters.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import OperationalError, transaction

from dlq.public.models import Resolution
from dlq.public.resolving import GoneHome, requeue, requeue_many, yielding
from executions.public.errors import ConcurrencyConflict, QuotaExceeded, ValkyrError, WrongState
from executions.public.models import WorkflowExecution
from runners.public.forks import ForkRequest, Overrides, fork_execution
from valkyr_plugins.redrive import items, patching
from valkyr_plugins.redrive.items import Queued, Sent
from valkyr_plugins.redrive.models import Redrive, RedriveItem
from valkyr_plugins.redrive.pacing import allowed
from valkyr_plugins.redrive.sending import YIELDS, actor_of, patches_of
from valkyr_plugins.redrive.states import ItemState, RedriveScope
from valkyr_plugins.redrive.wish import LATEST, NEEDS_FORKS, PINNED, InvalidRedrive

# Entries of one execution that go home to one new execution.
MOST_TOGETHER = 1_000


def send_one(redrive_id: UUID, item: Queued) -> bool | None:
    """Send an item, or skip it with what refused it; whether it moved.

    None where the redrive has no room any more, does not run, or a limit holds it back (the item
    says which): then the others are not worth a try just now either.
    """
    try:
        with transaction.atomic():
            redrive = items.running(redrive_id)
            if redrive is None or not allowed(redrive):
                return None
            moved = _try(redrive, item)
            items.save(redrive)
            return moved
    except (QuotaExceeded, ConcurrencyConflict) as error:
        items.hold(item.id, error.message)
        return None
    except OperationalError:
        return False  # locked by somebody, for longer than we wait


def _try(redrive: Redrive, item: Queued) -> bool:
    if not RedriveItem.objects.filter(pk=item.id, state=ItemState.QUEUED).exists():
        return False  # it went with another of its execution
    patched = patches_of(redrive, [item]).get(item.entry_id)
    try:
        # A savepoint: what is refused leaves nothing but its reason.
        with transaction.atomic():
            if redrive.scope == RedriveScope.STEP:
                _step(redrive, item, patched)
            else:
                _anew(redrive, item, patched)
    except (QuotaExceeded, ConcurrencyConflict):
        raise
    except ValkyrError as error:
        items.skip(redrive, [(item.id, error.message)])
    return True


def _step(redrive: Redrive, item: Queued, patched: patching.Patched | None) -> None:
    run = requeue(
        item.entry_id,
        actor=actor_of(redrive),
        overrides=patched.patch if patched else None,
        reason=redrive.reason,
        yields=YIELDS,
    )
    items.send(redrive, [Sent(item.id, run.pk, item.execution_id)])


def _anew(redrive: Redrive, item: Queued, patched: patching.Patched | None) -> None:
    """Start one new execution for all entries of the item's execution that this redrive has.

    It begins right before the step of the first of them, or the chosen one; what is to be changed
    is that one's too. Raises InvalidRedrive where nothing can fork any more.
    """
    if not fork_execution.provided:
        raise InvalidRedrive(NEEDS_FORKS, [])
    together = _of_execution(redrive, item)
    step = "" if redrive.scope == RedriveScope.EXECUTION else redrive.from_step or item.step_path
    priority = WorkflowExecution.objects.values_list("priority", flat=True).get(
        pk=item.execution_id
    )
    wanted = ForkRequest(
        item.execution_id,
        step_path=step or None,
        version=_version(redrive),
        overrides=_overrides(step, patched),
        reason=redrive.reason,
        priority=yielding(priority, YIELDS),
    )
    made = fork_execution(wanted, actor_of(redrive))
    gone = [GoneHome(entry_id, execution_id=made.pk) for _, entry_id in together]
    moved = requeue_many(
        gone,
        actor=actor_of(redrive),
        notes=redrive.reason,
        workspace_id=redrive.workspace_id,
        object_type=Redrive.AUDITED_AS,
        object_id=redrive.pk,
    )
    if item.entry_id not in moved:
        raise WrongState("It was resolved meanwhile.", Resolution.PENDING)
    items.send(redrive, [Sent(pk, None, made.pk) for pk, entry in together if entry in moved])


def _of_execution(redrive: Redrive, item: Queued) -> Sequence[tuple[int, UUID]]:
    """The queued items of the same execution, this one first."""
    rows = RedriveItem.objects.filter(
        redrive=redrive, state=ItemState.QUEUED, entry__execution_id=item.execution_id
    )
    found = rows.order_by("pk").values_list("pk", "entry_id")[:MOST_TOGETHER]
    return [(item.id, item.entry_id), *(pair for pair in found if pair[0] != item.id)]


def _version(redrive: Redrive) -> str | int:
    return redrive.version if redrive.version in {PINNED, LATEST} else int(redrive.version)


def _overrides(step: str, patched: patching.Patched | None) -> Overrides:
    if patched is None or not patched.patch:
        return Overrides()
    return Overrides(steps={step: patched.patch}) if step else Overrides(input=patched.patch)
