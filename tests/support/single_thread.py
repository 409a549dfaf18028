"""Workers, a queue and a clock in one thread: the engine's own functions in a chosen order.

Messages are lost, duplicated and reordered; workers die between an effect and its record; leases
expire. PostgreSQL is real; only the transport and the passage of time are simulated. The order of
all events follows from the random numbers alone, so that a failure can be reproduced.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from executions import lifecycle
from executions.access.actor import Actor
from executions.database.statements import Statements
from executions.definition.graph.model import Step
from executions.states import FINAL
from runners.conf import config
from runners.dispatch import estimates, messages
from runners.errors import LeaseLost
from runners.pipeline import claim_run, execute, load_segment, receive, record_result
from runners.planning import plan_execution
from runners.recovery.sweeper import executions, leases, waits
from runners.recovery.sweeper import messages as due
from runners.recovery.sweeper import messages as lost
from runners.segment.packs import ExecutionPack
from runners.segment.state import Segment, SegmentState
from runners.segment.work import Unit, Work
from tests.support.transport import Message, Transport
from tests.support.workflows import describe

PERSON = Actor.system("somebody")
ACTED = Statements(Path(__file__).with_name("acted"))


@dataclass
class Worker:
    """A worker in the middle of a segment."""

    message: Message
    left: deque[str]  # siblings not begun
    state: SegmentState
    work: Work
    unit: Unit | None = None


class World(Transport):
    """A queue and workers, with chances (0 to 1) that a message is lost or duplicated, that a
    worker ends, and that a user pauses or resumes the execution between two events.

    If a pause has stopped everything, the user resumes sooner. The user resumes at once if the
    duties have found nothing to do, because they would find nothing again.
    """

    def __init__(
        self, rng: Random, *, lose: float, double: float, die: float, pause: float = 0
    ) -> None:
        super().__init__(rng, lose=lose, double=double)
        self.order = Random()  # not requested explicitly: it costs `rng` no number
        self.order.setstate(rng.getstate())
        self.pause = pause
        self.paused = False
        self.settled = False  # duties since the last pause that found nothing while all was idle
        self.slow = 0.05
        self.die = die
        self.workers: list[Worker] = []
        self.fenced = 0
        self.deaths = 0
        self.between: Callable[[], None] | None = None  # between two events, by chance or not

    def run(self, execution_id: UUID, turns: int = 4_000, *, whole: bool = True) -> None:
        """Let chance decide what happens next until the execution has ended, within `turns` events.

        Raise AssertionError if it has not ended by then, unless `whole` is false.
        """
        for turn in range(turns):
            if turn % 5 == 0 and self._state(execution_id) in FINAL:
                return
            if self.between is not None:
                self.between()
            if self.rng.random() < self._chance_of_somebody():
                self._toggle(execution_id)
            if self.workers and (self.rng.random() < 0.7 or not self.queue):
                self._work(self.rng.randrange(len(self.workers)))
            elif self.queue and len(self.workers) < 4:
                self._take(self.queue.pop(self.rng.randrange(len(self.queue))))
            if self.rng.random() < 0.05 or not (self.queue or self.workers):
                self._sweep()
        if whole:
            raise AssertionError(f"not over after {turns} turns: {describe([execution_id])}")

    def drain(self) -> None:
        """Let every worker and message finish; ignore the results."""
        while self.workers or self.queue:
            self.turn()

    def turn(self) -> None:
        """Perform one action that drains the queue."""
        if self.workers:
            self._work(0)
        elif self.queue:
            self._take(self.queue.pop())

    def drain_with_retries(self, execution_id: UUID) -> None:
        """Run only the duties for retries and timers: the engine must need no others."""
        for _ in range(50):
            self.drain()
            if self._state(execution_id) in FINAL:
                return
            self._pass_time()
            due.due_runs()
            waits.due_timers()

    def _state(self, execution_id: UUID) -> str:
        row = ACTED.fetch_one("state", {"execution": execution_id})
        assert row is not None
        return str(row[0])

    def _chance_of_somebody(self) -> float:
        """Return the chance that a user pauses or resumes the execution now."""
        at_rest = self.paused and not (self.queue or self.workers)
        if at_rest and self.settled:
            return 1
        return 0.3 if at_rest else self.pause

    def _toggle(self, execution_id: UUID) -> None:
        """Let a user pause the execution, or resume it."""
        self.settled = False
        state = self._state(execution_id)
        self.paused = state == "RUNNING"
        if state == "RUNNING":
            lifecycle.pause(execution_id, actor=PERSON)
        elif state == "PAUSED":
            lifecycle.resume(execution_id, actor=PERSON)

    def _take(self, message: Message) -> None:
        if not message.segment:
            plan_execution.advance(message.execution)
            return
        if message.more:
            ids = (message.execution, *message.more)
            self._next_execution(
                message, load_segment.load_pack(message.version, message.segment, ids)
            )
            return
        self._next_segment(message, deque((message.segment, *message.others)))

    def _next_execution(self, message: Message, pack: ExecutionPack[SegmentState]) -> None:
        """Let a worker take the rest of a pack, as `receive.run_executions` does."""
        begun = receive.next_execution(pack)
        if begun is not None:
            self.workers.append(Worker(message, deque(), *begun))

    def _next_segment(self, message: Message, left: deque[str]) -> None:
        """Let a worker take the rest of a message, as `receive.run_segment` does."""
        header = message.chord is not None
        while left:
            segment = Segment(left.popleft(), "", "")
            if self._carry(message, segment, left, message.links, header=header):
                return
        self.done(message)

    def _carry(
        self,
        message: Message,
        segment: Segment,
        left: deque[str],
        links: tuple[str, ...] = (),
        *,
        header: bool,
    ) -> bool:
        taken = receive.claim_segment(
            message.execution, message.version, segment, left, links=links, header=header
        )
        if taken is None:
            return False
        state, work = taken
        work = work or claim_run.claim_following(state)
        if work is not None:
            self.workers.append(Worker(message, left, state, work))
        return work is not None

    def _work(self, index: int) -> None:
        worker = self.workers[index]
        if self.rng.random() < self.die:
            self.deaths += 1
            del self.workers[index]
            self.put(worker.message)
            return
        pack = worker.state.pack or worker.state.executions
        if pack is not None and self.rng.random() < self.slow:
            pack.until = 0  # as if a step took long: the others are returned
        if worker.unit is None:
            worker.unit = execute.perform(worker.state, worker.work)
            worker.state.stays = self.rng.random() < 0.7
            return
        lost = False
        try:
            work = record_result.record(worker.state, worker.work, worker.unit)
        except LeaseLost:
            self.fenced += 1
            work, lost = None, True
            receive.hand_back(worker.state, None)
        except IntegrityError:  # as in receive.run_segment
            work, lost = None, True
            receive.hand_back(worker.state, worker.work)
        if not lost:
            work = work or claim_run.claim_following(worker.state)
        worker.unit = None
        if work is not None:
            worker.work = work
            return
        if not lost:
            receive.settle(worker.state)
        self.workers.remove(worker)
        self._go_on(worker, lost=lost)

    def _go_on(self, worker: Worker, *, lost: bool) -> None:
        """Let a worker act after its segment: first what follows automatically, then the rest of
        its message.
        """
        state, onward = worker.state, worker.state.next_segment
        onward = None if lost else onward
        if state.executions is not None:
            if onward is not None:
                own = Message(state.context.execution_id, worker.message.version)
                self._carry(own, onward, deque(), header=False)
            if state.executions.late():
                state.executions.hand_back()
            self._next_execution(worker.message, state.executions)
        elif onward is None or not self._carry(worker.message, onward, worker.left, header=False):
            self._next_segment(worker.message, worker.left)

    def _sweep(self) -> None:
        """Let time pass, and run the duties."""
        self._pass_time()
        duties: list[Callable[[], int]] = [
            due.due_runs,
            waits.due_timers,
            lost.lost_messages,
            leases.expired_leases,
            executions.stalled_executions,
            executions.compensations,
        ]
        self.rng.shuffle(duties)
        # All of them: the result of one may be the others' work.
        did = sum([duty() for duty in duties])
        self.settled = not (did or self.queue or self.workers)

    def _pass_time(self) -> None:
        """Make all timers due; let some leases expire."""
        held = [w.work.run_id for w in self.workers if self.rng.random() < 0.7]
        salt = self.order.getrandbits(32)
        ACTED.fetch("time_passes", {"salt": salt, "held": held})


@contextmanager
def world(rng: Random, monkeypatch: Any, **chances: float) -> Iterator[World]:
    """Simulate workers with a queue that replaces the broker; segments and chords are short or
    long.
    """
    made = World(rng, **chances)
    with monkeypatch.context() as patched, configured(**drawn_limits(rng)):
        patched.setattr(messages, "publish", made.publish)
        patched.setattr(messages, "advance", made.advance)
        # The real broker may hold messages that other tests sent and no worker took.
        patched.setattr(lost, "_empty", made.empty)
        patched.setattr(estimates, "estimate_duration", drawn_estimates(rng))
        yield made


def drawn_limits(rng: Random) -> dict[str, float]:
    """Return bounds for segments, chords, chains and packs, some short and some long."""
    return {
        "stretch_steps": rng.choice([1, 2, 32]),
        "stretch_seconds": 60.0,
        "segment_steps": rng.choice([1, 3, 32]),
        "chord_headers": rng.choice([2, 100]),
        "chain_links": rng.choice([1, 2, 8]),
        "batch_steps": rng.choice([1, 5, 256]),
        "pack_steps": rng.choice([1, 2, 32]),
        "pack_patience": 60.0,
        "pack_trial": 60.0,  # the rules of chance above end it, not a busy machine
    }


def drawn_estimates(rng: Random) -> Callable[[Step], float | None]:
    """Return a function that gives the known durations of steps: short for some, none for others,
    and constant.
    """
    known: dict[str, float | None] = {}
    return lambda step: known.setdefault(step.path, rng.choice([None, 1.0, 1.0, 12.0]))


@contextmanager
def configured(**numbers: float) -> Iterator[None]:
    """Set other numbers in this process's configuration, which each part of the engine reads once
    and caches.
    """
    known = config()
    before = {name: getattr(known, name) for name in numbers}
    try:
        for name, number in numbers.items():
            object.__setattr__(known, name, number)
        yield
    finally:
        for name, number in before.items():
            object.__setattr__(known, name, number)
