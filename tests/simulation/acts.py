"""The actors' acts: each is one call of the product's own functions, as in the task that makes the
call.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from uuid import UUID

from django.contrib.auth import get_user_model

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.access.actor import Actor as Person
from executions.errors import ValkyrError
from executions.models import Workspace
from executions.triggers.event import publish_event
from runners.containers import child_executions
from runners.errors import LeaseLost, StepFailed
from runners.models import Run
from runners.pipeline import receive
from runners.planning import plan_execution
from runners.recovery import sweeper
from runners.waits import approvals, events
from tests.support.transport import Message, Transport

MENDED = "test.effect"  # requeued, it does not fail again
SOMEBODY = Person.system("somebody")
TOLD: dict[str, Callable[..., object]] = {
    child_executions.ENDED: child_executions.wake_parent,
    child_executions.CANCEL: child_executions.cancel_of,
    child_executions.LEAVE: child_executions.leave,
    events.DELIVER: events.deliver,
}


def carry(message: Message, broker: Transport) -> None:
    """Process a message as a worker does (`runners/tasks.py`)."""
    try:
        _carry(message)
    except LeaseLost:
        pass
    except StepFailed:
        return  # the task failed: Celery sends no successors
    broker.done(message)


def _carry(message: Message) -> None:
    if message.task:
        TOLD[message.task](message.execution, *message.words)
        return
    if not message.segment:
        plan_execution.advance(message.execution)
        return
    assert message.version is not None
    if message.more:
        ids = [message.execution, *message.more]
        receive.run_executions(ids, message.version, message.segment)
        return
    receive.run_segment(
        message.execution,
        message.version,
        message.segment,
        others=message.others,
        links=message.links,
        header=message.chord is not None,
    )


@dataclass
class Operator:
    """A user who pauses, resumes, cancels, requeues, decides and sends events."""

    rng: Random
    workspace: Workspace
    executions: list[UUID]
    cancels: float

    def acts(self) -> dict[str, Callable[[], None]]:
        """Return the acts that are possible at any time."""
        some = self.rng.choice(self.executions)
        found: dict[str, Callable[[], None]] = {
            "pauses": lambda: self._move(lifecycle.pause, some),
            "resumes": lambda: self._move(lifecycle.resume, some),
            "requeues": self.requeue,
            "decides": self.decide,
            "sends an event": self.send,
        }
        if self.rng.random() < self.cancels:
            found = {"cancels": lambda: self._cancel(some)}
        return found

    def resume_all(self) -> None:
        """Resume all executions."""
        for execution in self.executions:
            self._move(lifecycle.resume, execution)

    def requeue(self) -> None:
        """Requeue the open dead letters; repair those of effects."""
        letters = DeadLetterEntry.objects.filter(
            execution_id__in=self.executions, resolution="PENDING"
        )
        for letter in letters.order_by("execution_id", "step_path")[:3]:
            overrides = {"failTimes": 0} if letter.module == MENDED else None
            with suppress(ValkyrError):
                requeue(letter.pk, actor=SOMEBODY, overrides=overrides)

    def decide(self) -> None:
        """Approve the runs that wait for a user."""
        waiting = Run.objects.filter(
            execution_id__in=self.executions, state="WAITING", waits_for="approval"
        )
        user = get_user_model().objects.get(username="decider")
        for run_id in waiting.order_by("execution_id", "step_path").values_list("pk", flat=True):
            with suppress(ValkyrError):
                approvals.decide(run_id, "approved", "", user=user, actor=SOMEBODY)

    def send(self) -> None:
        """Publish the event that runs may wait for."""
        publish_event(self.workspace, "go", {}, actor=SOMEBODY)

    def _cancel(self, execution: UUID) -> None:
        self._move(lifecycle.cancel, execution)

    def _move(self, move: Callable[..., object], execution: UUID) -> None:
        with suppress(ValkyrError):  # its state does not allow that
            move(execution, actor=SOMEBODY)


def sweep(often: bool) -> None:
    """Run one round of the sweeper, as beat requests it."""
    (sweeper.often if often else sweeper.seldom)()
