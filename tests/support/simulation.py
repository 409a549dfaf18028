"""Workers, a queue and a clock in one thread: the engine's own functions in a chosen order.

Messages are lost, doubled and reordered; workers die between an effect and its record; leases
run out. PostgreSQL is real, only the transport and the passing of time are acted. The order of all
that happens follows from the random numbers alone, so that what failed once fails again.
"""

import re
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
from runners.dispatch.canvas import Chain, Chord
from runners.errors import LeaseLost
from runners.pipeline import claim_run, execute, receive, record_result
from runners.planning import plan_execution
from runners.recovery.sweeper import executions, leases, waits
from runners.recovery.sweeper import messages as due
from runners.recovery.sweeper import messages as lost
from runners.segment.state import Segment, SegmentState
from runners.segment.work import Unit, Work
from tests.support.workflows import describe

PERSON = Actor.system("somebody")
ACTED = Statements(Path(__file__).with_name("acted"))
NUMBER = re.compile(r"(\d+)")


@dataclass
class Message:
    """One segment, or (without one) an `advance`; the chord it counts for, the chain after it.

    `others` are the siblings that a segment is packed with.
    """

    execution: UUID
    version: UUID
    segment: str = ""
    others: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    chord: "Count | None" = None


@dataclass
class Count:
    """Headers of a chord that have not ended."""

    left: int


@dataclass
class Worker:
    """Somebody in the middle of a segment."""

    message: Message
    left: deque[str]  # siblings not begun
    state: SegmentState
    work: Work
    unit: Unit | None = None


class World:
    """A queue, workers, and chances (0 to 1) that a message is lost or doubled, a worker dies, and
    somebody pauses the execution (or goes on with it) between two events.

    Where a pause has brought all to rest, somebody goes on sooner, and at once when the duties have
    found nothing to do: they would find nothing again.
    """

    def __init__(
        self, rng: Random, *, lose: float, double: float, die: float, pause: float = 0
    ) -> None:
        self.rng = rng
        self.order = Random()  # what nobody asked for in words: it costs `rng` no number
        self.order.setstate(rng.getstate())
        self.pause = pause
        self.paused = False
        self.settled = False  # since the last pause the duties looked at all at rest, for nothing
        self.slow = 0.05
        self.lose = lose
        self.double = double
        self.die = die
        self.queue: list[Message] = []
        self.workers: list[Worker] = []
        self.fenced = 0
        self.deaths = 0
        self.between: Callable[[], None] | None = None  # done between two events, by chance or not

    def publish(self, parcels: list[messages.Parcel]) -> None:
        """Stands in the place of `dispatch.publish`."""
        sent = [(item, canvas) for item in parcels for canvas in item.canvas]
        for item, canvas in sorted(sent, key=_by_path):  # rows come in any order
            self._send(item, canvas)

    def advance(self, execution_id: UUID) -> None:
        """Stands in the place of `dispatch.advance`."""
        self._put(Message(execution_id, execution_id))

    def empty(self, queues: set[str]) -> set[str]:
        """Stands in the place of `lost`'s question to the broker."""
        return set() if self.queue else queues

    def _send(self, item: messages.Parcel, canvas: Chain | Chord) -> None:
        if isinstance(canvas, Chord):
            count = Count(len(canvas.headers))
            for link in canvas.headers:
                self._put(
                    Message(
                        item.execution_id, item.version_id, link.segment, link.others, chord=count
                    )
                )
            return
        first, *rest = canvas.links
        links = tuple(link.segment for link in rest)
        self._put(Message(item.execution_id, item.version_id, first.segment, first.others, links))

    def _put(self, message: Message) -> None:
        if self.rng.random() >= self.lose:
            self.queue.append(message)
        if self.rng.random() < self.double:
            self.queue.append(message)

    def run(self, execution_id: UUID, turns: int = 4_000, *, whole: bool = True) -> None:
        """Let chance decide what happens next until the execution is over, within so many turns.

        One that is not over then is an AssertionError, unless the whole of it is not wanted.
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
        """Let every worker and message come to its end; nothing of it may matter any more."""
        while self.workers or self.queue:
            self.turn()

    def turn(self) -> None:
        """One thing of those that drain the queue."""
        if self.workers:
            self._work(0)
        elif self.queue:
            self._take(self.queue.pop())

    def drain_with_retries(self, execution_id: UUID) -> None:
        """No duties but those for retries and timers: the engine must need no other."""
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
        """That somebody pauses it now, or lets it go on."""
        at_rest = self.paused and not (self.queue or self.workers)
        if at_rest and self.settled:
            return 1
        return 0.3 if at_rest else self.pause

    def _toggle(self, execution_id: UUID) -> None:
        """Somebody pauses it, or lets it go on."""
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
        self._next_segment(message, deque((message.segment, *message.others)))

    def _next_segment(self, message: Message, left: deque[str]) -> None:
        """A worker takes up what is left of a message, as `receive.run_segment` does."""
        header = message.chord is not None
        while left:
            segment = Segment(left.popleft(), "", "")
            if self._carry(message, segment, left, message.links, header=header):
                return
        self._done(message)

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
            self._put(worker.message)
            return
        if worker.state.pack is not None and self.rng.random() < self.slow:
            worker.state.pack.until = 0  # as if a step took long: the others are handed back
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
        self.workers.remove(worker)
        onward = worker.state.next_segment
        if (
            lost
            or onward is None
            or not self._carry(worker.message, onward, worker.left, header=False)
        ):
            self._next_segment(worker.message, worker.left)

    def _done(self, message: Message) -> None:
        if message.links:
            following, *rest = message.links
            self._put(Message(message.execution, message.version, following, links=tuple(rest)))
        if message.chord is not None:
            message.chord.left -= 1
            if message.chord.left == 0:
                self._put(Message(message.execution, message.version))

    def _sweep(self) -> None:
        """Time passes, and the duties look."""
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
        # Each of them: what one did may be the others' work.
        did = sum([duty() for duty in duties])
        self.settled = not (did or self.queue or self.workers)

    def _pass_time(self) -> None:
        """Whatever waits for a time is due; some leases are over."""
        held = [w.work.run_id for w in self.workers if self.rng.random() < 0.7]
        salt = self.order.getrandbits(32)
        ACTED.fetch("time_passes", {"salt": salt, "held": held})


@contextmanager
def world(rng: Random, monkeypatch: Any, **chances: float) -> Iterator[World]:
    """A world whose queue takes the place of the broker; segments and chords are short or long."""
    made = World(rng, **chances)
    limits = {
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
    with monkeypatch.context() as patched, configured(**limits):
        patched.setattr(messages, "publish", made.publish)
        patched.setattr(messages, "advance", made.advance)
        # The real broker may hold what other tests sent and nobody took.
        patched.setattr(lost, "_empty", made.empty)
        patched.setattr(estimates, "estimate_duration", _estimates(rng))
        yield made


def _by_path(sent: tuple[messages.Parcel, Chain | Chord]) -> list[Any]:
    """Where the first segment of a canvas stands, `t[10]` behind `t[2]`."""
    _, canvas = sent
    first = canvas.headers[0] if isinstance(canvas, Chord) else canvas.links[0]
    return [int(part) if part.isdigit() else part for part in NUMBER.split(first.segment)]


def _estimates(rng: Random) -> Callable[[Step], float | None]:
    """What is known of steps' durations: short of some, nothing of others, always the same."""
    known: dict[str, float | None] = {}
    return lambda step: known.setdefault(step.path, rng.choice([None, 1.0, 1.0, 12.0]))


@contextmanager
def configured(**numbers: float) -> Iterator[None]:
    """Other numbers in this process's configuration, which every part reads once and keeps."""
    known = config()
    before = {name: getattr(known, name) for name in numbers}
    try:
        for name, number in numbers.items():
            object.__setattr__(known, name, number)
        yield
    finally:
        for name, number in before.items():
            object.__setattr__(known, name, number)
