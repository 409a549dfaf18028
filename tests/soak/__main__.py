"""`python -m tests.soak`: start servers, run load for a while, then report trends and audit."""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from tests.chaos.stage import Stage

if TYPE_CHECKING:
    from tests.chaos.world import World
    from tests.soak.chores import Chores
    from tests.soak.readings import Readings

DESCRIPTION = """Run a whole stack under steady load, with schedules, waits, failures and their
redrives, viewers and retention, and tell what grows. The exit code is 1 where memory, descriptors,
tables or latency grow by more than 1 % an hour and by more than their noise, or where an
execution was lost."""
# Seconds: between two readings; how long the machine's load is measured.
EVERY, MEASURED = 5.0, 30.0
WARM_UP = 1 / 12  # of the minutes, at the highest load, by default
AT_ONCE, FANS = 40, 25  # steps of each fan for the `io` worker, which has 16 threads
SHARE = 0.6  # of the machine's processors
SHOWN = ("web: memory, MB", "default-1: memory, MB", "chain: median, s")


def main(arguments: Sequence[str]) -> int:
    """Run the soak test; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=DESCRIPTION)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument(
        "--warm-up",
        type=float,
        metavar="MINUTES",
        help="first run as much load as the machine can do, so that memory and tables have the "
        "size of a peak (a twelfth of --minutes)",
    )
    parser.add_argument("--rate", type=float, help="starts a second; else what loads 60 %% of it")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all readings there")
    given = parser.parse_args(arguments)
    say(f"seed {given.seed}; starting PostgreSQL and {given.broker}")
    with Stage(given.broker) as stage:
        return _soaked(stage, given)


def _soaked(stage: Stage, given: Any) -> int:
    from tests.chaos.world import World
    from tests.soak.chores import Chores
    from tests.soak.readings import Readings

    world = World(stage, given.seed, quick=False, minutes=given.minutes, kills=0)
    try:
        say("starting workers, beat and API")
        world.build()
        warm_up = WARM_UP * given.minutes if given.warm_up is None else given.warm_up
        say(f"full load for {warm_up:g} minutes")
        capacity = _capacity(world, warm_up * 60)
        rate = given.rate or SHARE * capacity
        say(f"{rate:.1f} executions a second for {given.minutes:g} minutes")
        _begin(world, rate)
        chores = Chores(world)
        processes = {name: one.pid for name, one in world.fleet.members.items()}
        processes |= {"web": world.web.pid}
        readings = Readings(processes, world.workflows["chain"].pk)
        chores.start()
        _busy()
        _read(readings, given.minutes * 60)
        busy = _busy()
        chores.stop()
        world.load.stop()
        world.wait_all_ended(150)
        world.watch.stop()
        return _told(world, chores, readings, given, rate, busy)
    finally:
        world.stop()


def _capacity(world: "World", warm_up: float) -> float:
    """Return the executions per second that would use this process's CPUs completely.

    One thread starts executions without pause. Its starts are counted after `warm_up` seconds, and
    divided by the busy share of the CPUs.
    """
    _begin(world, 1_000.0)
    _use_all_threads(world)
    world.pause(warm_up)
    _busy()
    already, began = len(world.load.accepted), time.monotonic()
    world.pause(MEASURED)
    busy = _busy()
    starts = (len(world.load.accepted) - already) / (time.monotonic() - began)
    say(f"{starts:.1f} starts a second load {100 * busy:.0f} % of the processors")
    world.load.stop()
    world.wait_all_ended(150)
    world.watch.stop()
    return starts / busy


def _use_all_threads(world: "World") -> None:
    """Give the `io` worker more steps than it has threads: each of them fills its own caches."""
    from tests.support.workflows import effect, publish, start_many

    parts = [{**effect(f"part{n}", seconds=0.2), "queue": "io"} for n in range(AT_ONCE)]
    world.own(start_many(publish({"tasks": parts}), [{}] * FANS))


def _busy() -> float:
    """Return the busy share of this process's CPUs since the last call, without `nice`."""
    each = psutil.cpu_times_percent(percpu=True)
    own = [each[number] for number in os.sched_getaffinity(0)]
    return sum(cpu.user + cpu.system + cpu.irq + cpu.softirq for cpu in own) / len(own) / 100


def _begin(world: "World", rate: float) -> None:
    from tests.chaos.fault import Fault, Load
    from tests.chaos.trial import blank

    load = Load(rate=rate, api=True, most=100)
    soak = Fault("soak", "steady load", "nothing grows", None, lambda _: None, load=load)
    world.begin(soak, blank(soak))


def _read(readings: "Readings", seconds: float) -> None:
    begun = shown = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        readings.read()
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            say(f"{passed / 60:.0f} min: {readings.newest(SHOWN)}")
        time.sleep(EVERY)


def _told(
    world: "World", chores: "Chores", readings: "Readings", given: Any, rate: float, busy: float
) -> int:
    from tests.chaos import ledger
    from tests.soak.trends import trend

    found = {name: trend(series) for name, series in sorted(readings.series.items())}
    print(f"{'':45}{'level':>12}{'an hour':>10}{'noise':>10}")
    growing = []
    unvacuumed = readings.unvacuumed()
    for name, one in found.items():
        if one is None:
            continue
        grows = one.grows and name not in unvacuumed
        mark = "  grows" if grows else "  before its first vacuum" if one.grows else ""
        print(f"{name:45}{one.level:12.2f}{100 * one.share:9.2f}%{one.noise:10.2f}{mark}")
        growing += [name] * grows
    kept = [pk for pk in world.load.ids() if pk not in chores.aged]
    audited = ledger.read(kept, [pk for pk in world.ids() if pk not in chores.aged], ())
    problems = [*audited.problems, *chores.failed]
    starts = len(world.load.accepted) / given.minutes / 60
    print(
        f"{given.minutes:g} minutes at {starts:.1f} starts a second of {rate:.1f}, processors "
        f"{100 * busy:.0f} % busy (seed {given.seed}): "
        f"{len(world.load.accepted):,} executions, {chores.redriven} steps requeued, "
        f"{len(chores.aged):,} past their retention, {chores.watched} viewers; "
        f"{len(problems)} problems; growing: {', '.join(growing) or 'nothing'}"
    )
    print("\n".join(problems[:20]))
    if given.json:
        given.json.write_text(json.dumps(readings.series))
    return 1 if growing or problems else 0


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def _end(*_: Any) -> None:
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main(sys.argv[1:]))
