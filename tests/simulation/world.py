"""One seed from its first statement to its verdict."""

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Self
from unittest.mock import patch
from uuid import UUID

import psycopg
from django.contrib.auth import get_user_model
from django.db import connections

from executions.database import one_partition
from executions.database.routing import alias
from executions.definition.versions import compiled
from executions.models import Workflow, Workspace
from runners.dispatch import messages
from runners.process import own_connection
from runners.recovery.sweeper import messages as lost
from tests.simulation import acts, judge
from tests.simulation.actors import Actor, me, seam
from tests.simulation.broker import Broker
from tests.simulation.judge import ACTED
from tests.simulation.plan import Plan, plan
from tests.simulation.scheduler import Scheduler, Stuck
from tests.simulation.sources import Clock, Processes, drawn
from tests.support import emptying
from tests.support.single_thread import ACTED as OF_SUPPORT
from tests.support.transport import Message
from tests.support.workflows import (
    default_workspace,
    describe,
    limited_workspace,
    publish,
    start_many,
)

NAME_HOLDER = "SELECT set_config('simulation.holder', %s, false)"
TURNS = 3_000  # of chance; then there are no more faults
WAIT_TURNS = 200  # a statement that waits for a lock for longer is starved
IDLE = 4  # rounds of the sweeper that find nothing: another actor must act
CALM_ROUNDS = 60
WORKERS = ("w1", "w2", "w3", "w4")
OTHERS = ("beat", "beat2", "operator")


@dataclass
class Outcome:
    """The result of a seed."""

    seed: int
    problems: list[str]
    trace: list[str]
    counts: Counter[str]
    seconds: float

    @property
    def digest(self) -> str:
        """Return a digest that is the same for the same seed."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()[:16]


class Complaints(logging.Handler):
    """The engine's errors in logs: a duty that failed, an impossible state."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is from a live process, and not about a dead letter, which the
        judge checks.
        """
        actor = me()
        return (actor is None or not actor.dead) and not record.name.startswith("dlq")

    def emit(self, record: logging.LogRecord) -> None:
        """Store the record's text."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"
        self.heard.append(f"logged: {text}")


class Simulation:
    """The actors and the monitor; seeds are run one after another."""

    def __init__(self) -> None:
        self._limits = without_clocks()
        self._limits.__enter__()
        self.monitor = psycopg.connect(autocommit=True, **own_connection.parameters())
        self.monitor.execute(judge.ACTED.text("create_trigger"))
        self.scheduler = Scheduler((*WORKERS, *OTHERS), self.monitor)

    def run(self, seed: int, *, harsh: bool = False) -> Outcome:
        """Run one seed, with the most faults if requested; broken promises are in its outcome."""
        began = time.perf_counter()
        emptying.empty()
        self.monitor.execute("TRUNCATE simulation_broken, test_effects")
        rng = Random(seed)
        complaints = Complaints()
        with ExitStack() as stack:
            clock, processes = stack.enter_context(drawn(seed, rng))
            stack.enter_context(_listening(complaints))
            stack.enter_context(seam())
            made = plan(rng, harsh=harsh)
            world = World(self.scheduler, rng, made, clock, processes)
            stack.enter_context(_broker(world.broker))
            try:
                found = world.live()
            except Stuck as error:
                found = [f"stuck: {error}"]
                self._anew()
        found += complaints.heard
        return Outcome(seed, found, world.trace, world.counts, time.perf_counter() - began)

    def __enter__(self) -> Self:
        """Return the simulation, which is ready."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all threads and sessions."""
        self.scheduler.end()
        self.monitor.close()
        self._limits.__exit__(None, None, None)

    def _anew(self) -> None:
        """Create new actors; leave stuck threads as they are."""
        self.scheduler = Scheduler((*WORKERS, *OTHERS), self.monitor)


@dataclass
class World:
    """The events of one plan."""

    scheduler: Scheduler
    rng: Random
    plan: Plan
    clock: Clock
    processes: Processes
    trace: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        chances = self.plan.chances
        self.broker = Broker(
            self.rng, lose=chances.lose, double=chances.double, refuse=chances.refuse
        )
        actors = {actor.name: actor for actor in self.scheduler.actors}
        self.workers = [actors[name] for name in WORKERS[: self.plan.workers]]
        self.beats = [actors["beat"], actors["beat2"]]
        self.person = actors["operator"]
        self.problems: list[str] = []
        self.calm = False
        self.turns = 0
        self.frozen: dict[str, int] = {}  # until which turn
        self.given = 0  # turns given to actors
        self.starved: dict[str, int] = {}
        self.waits: dict[str, int] = {}  # since which turn its statement waits for a lock
        self.idle = 0  # rounds of the sweeper in a row after which nothing was sent
        for actor in self.scheduler.actors:
            actor.lives, actor.leaves, actor.deadlocks = 0, False, 0

    def live(self) -> list[str]:
        """Run the plan from the start to the verdict; return the problems found."""
        workspace, executions, stories = self._begin()
        cancels = self.plan.chances.cancel
        self.operator = acts.Operator(self.rng, workspace, executions, cancels)
        for _ in range(TURNS):
            if not self._turn():
                break
        self._mend()
        if not self._finish():
            self.problems.append(f"not over: {describe(executions)}")
        for name, turns in self.starved.items():
            self.problems.append(f"{name} waited {turns} turns for a lock")
        for actor in self.scheduler.actors:
            if actor.deadlocks:
                self.problems.append(f"{actor.name} met {actor.deadlocks} deadlocks")
        return self.problems + judge.problems(executions, stories)

    def _begin(self) -> tuple[Workspace, list[UUID], list[Any]]:
        self.trace += self.plan.facts
        workspace = default_workspace()
        if self.plan.places:
            workspace = limited_workspace(self.plan.places)
        get_user_model().objects.create_superuser("decider", "", "")
        workflow: Workflow = publish(self.plan.drawn.document, workspace)
        assert workflow.latest_version_id is not None
        compiled(workflow.latest_version_id)
        payloads = [{"n": n, "key": f"k{n % 2}"} for n in range(self.plan.executions)]
        executions = start_many(workflow, payloads)
        return workspace, executions, self.plan.stories()

    def _turn(self) -> bool:
        """Let one event happen; return False if no event is possible."""
        chances = self.plan.chances
        drawn = self.rng.random()
        if not self.scheduler.blocked():
            if drawn < chances.sweep:
                self._sweep()
            elif drawn < chances.sweep + chances.operate:
                self._operate()
        ready, free = self._awake(self.scheduler.next_ones()), self._free()
        if self.broker.queue and free and (not ready or self.rng.random() < 0.3):
            self._deliver(self.rng.choice(free))
        elif ready:
            self._step(self.rng.choice(ready))
        elif self.scheduler.blocked():
            self.scheduler.settle(set())
        elif self.frozen and self.scheduler.ready():
            self._sweep()  # all others are frozen
        elif self._over() or self.idle == IDLE:
            return False
        elif chances.operate and self.rng.random() < 0.3:
            self._operate()
        else:
            self.idle += 1
            self._sweep()
        return True

    def _awake(self, ready: list[Actor]) -> list[Actor]:
        """Return the actors that are not frozen; the lease of a frozen process expires."""
        self.turns += 1
        if self.scheduler.blocked():
            return ready  # the holder of a lock continues
        for actor in ready:
            if actor.name not in self.frozen and self.rng.random() < self.plan.chances.freeze:
                self.frozen[actor.name] = self.turns + self.rng.choice([10, 100])
        awake = [one for one in ready if self.frozen.get(one.name, 0) <= self.turns]
        if ready and not awake and not self.broker.queue and self.rng.random() < 0.5:
            self.frozen.clear()
            return ready
        return awake

    def _free(self) -> list[Actor]:
        """Return the workers that may get a message; none while an actor waits for a lock."""
        if self.scheduler.blocked():
            return []
        return [worker for worker in self.workers if worker.idle]

    def _over(self) -> bool:
        if self.broker.queue:
            return False
        row = ACTED.fetch_one("count_unfinished", {})
        return row == (0,)

    def _deliver(self, worker: Actor) -> None:
        self.idle = 0
        message = self.broker.take()
        holder = self.processes.holder_of(worker)

        def act() -> None:
            # The trigger compares it with the lease.
            worker.django.ensure_connection()
            worker.django.connection.execute(NAME_HOLDER, [holder])
            acts.carry(message, self.broker)

        self._begins(worker, act, str(message), message)

    def _begins(
        self, actor: Actor, act: Callable[[], None], what: str, job: Message | None = None
    ) -> None:
        self.trace.append(f"{actor.name} begins: {what}")
        actor.begin(act, job)
        self._let_run(actor)

    def _step(self, actor: Actor) -> None:
        chances = self.plan.chances
        at = actor.at
        self.counts["statements"] += 1
        drawn = self.rng.random()
        dies = not self.calm and drawn < chances.die
        if dies and self.rng.random() < 0.5:
            self.trace.append(f"{actor.name} dies before {at}")
            self.counts["deaths"] += 1
            actor.kill()
        else:
            self.frozen.pop(actor.name, None)
            actor.dies_after = dies
            self.counts["deaths"] += dies
            self.trace.append(f"{actor.name} {at}{', then dies' if dies else ''}")
            if actor in self.workers and self.rng.random() < chances.leave and not self.calm:
                actor.leaves = True
            actor.go_on()
        self._let_run(actor)

    def _let_run(self, actor: Actor) -> None:
        before = {one.name for one in self.scheduler.actors if not one.idle}
        self.scheduler.run(actor)
        self._count_waits()
        if actor.blocked:
            self.counts["blocked"] += 1
            self.trace.append(f"{actor.name} waits for a lock")
        for one in self.scheduler.actors:
            if one.idle and one.name in before:
                self._ended(one)

    def _count_waits(self) -> None:
        self.given += 1
        blocked = {one.name for one in self.scheduler.blocked()}
        self.waits = {name: self.waits.get(name, self.given) for name in blocked}
        for name, since in self.waits.items():
            if self.given - since > WAIT_TURNS:
                self.starved[name] = self.given - since

    def _ended(self, actor: Actor) -> None:
        """Handle a processed message. If its process ended first, let the broker deliver the
        message to another one.
        """
        message, actor.job = actor.job, None
        if actor.dead:
            actor.dead = False
            self.processes.killed(actor.name)
            if message is not None:
                self.broker.put(message)
        if actor.leaves:
            actor.leaves = False
            actor.lives += 1
            self.processes.killed(actor.name)
        if actor.error is not None:
            self.problems.append(f"{actor.name} raised {actor.error!r}")
            actor.error = None

    def _sweep(self) -> None:
        """Let time pass, and let beat request a round of the sweeper."""
        free = [beat for beat in self.beats if beat.idle]
        if not free:
            return
        self._pass_time()
        beat = self.rng.choice(free)
        often = self.rng.random() < 0.8
        seed = self.rng.random()

        def act() -> None:
            beat.django.ensure_connection()
            beat.django.connection.execute("SELECT setseed(%s)", [seed])
            acts.sweep(often)

        self.counts["sweeps"] += 1
        self._begins(beat, act, "sweeps often" if often else "sweeps")

    def _pass_time(self) -> None:
        self.clock.now += self.rng.choice([1.0, 30.0])
        living = [self.processes.holder_of(actor) for actor in self.scheduler.actors]
        expire = 0.0 if self.calm else self.plan.chances.expire
        held = [
            run
            for (run,) in ACTED.fetch("held", {"holders": living})
            if self.rng.random() >= expire
        ]
        OF_SUPPORT.fetch("time_passes", {"salt": self.rng.getrandbits(32), "held": held})

    def _operate(self) -> None:
        if not self.person.idle:
            return
        found = self.operator.acts()
        what = self.rng.choice(sorted(found))
        self.counts["operator"] += 1
        self._begins(self.person, found[what], what)

    def _mend(self) -> None:
        """Inject no further faults, and let running work end."""
        self.calm = True
        self.broker.heal()
        self.trace.append("from here on nothing is lost and nobody dies")
        self._drain()

    def _drain(self) -> None:
        """Run until every message is processed and every actor is idle."""
        while True:
            ready, free = self.scheduler.next_ones(), self._free()
            if self.broker.queue and free:
                self._deliver(free[0])
            elif ready:
                self._step(self.rng.choice(ready))
            elif self.scheduler.blocked():
                self.scheduler.settle(set())
            else:
                return

    def _finish(self) -> bool:
        """Let the duties and a user bring everything to its end; return False if they cannot."""
        for _ in range(CALM_ROUNDS):
            if self._over():
                return True
            for what in ("resume_all", "decide", "send"):
                if what == "resume_all" or self.plan.waits:
                    self._begins(self.person, getattr(self.operator, what), what)
                    self._drain()
            for often in (True, False):
                self._pass_time()
                self._begins(self.beats[0], partial(acts.sweep, often), f"sweeps {often}")
                self._drain()
        return self._over()


@contextmanager
def without_clocks() -> Iterator[None]:
    """Open sessions without time limits during this block.

    The scheduler decides how long the holder of a lock waits. PostgreSQL's timeouts would measure
    that, and the load of the machine; `WAIT_TURNS` is the limit here. The engine's search for
    partitions is off: it depends on the clock, so one seed would give different runs.
    """
    limits = ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout")
    none = " ".join(f"-c {limit}=0" for limit in limits)
    with (
        patch.dict(connections[alias()].settings_dict["OPTIONS"], options=none),
        patch.object(one_partition, "_tables", []),
    ):
        yield


@contextmanager
def _broker(broker: Broker) -> Iterator[None]:
    with (
        patch.object(messages, "publish", broker.publish),
        patch.object(messages, "advance", broker.advance),
        patch.object(messages, "tell", broker.tell),
        patch.object(lost, "_empty", broker.empty),
    ):
        yield


@contextmanager
def _listening(complaints: Complaints) -> Iterator[None]:
    """Collect log records without printing them: killed processes would print a lot."""
    logger = logging.getLogger()
    usual, logger.handlers = logger.handlers, [complaints]
    try:
        yield
    finally:
        logger.handlers = usual
