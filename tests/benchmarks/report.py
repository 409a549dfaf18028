"""Each workload's figures as a table of text."""

from statistics import median

from tests.benchmarks.dispatch_time import Latencies
from tests.benchmarks.in_flight import InFlight
from tests.benchmarks.memory import MOST, Growth
from tests.benchmarks.module_start import MODULES, MOST_MS, Start
from tests.benchmarks.sides import Repetition
from tests.benchmarks.sleepers import Sleep
from tests.benchmarks.tables import Listed
from tests.benchmarks.throughput import Outcome
from tests.benchmarks.triggering import Triggering
from valkyr_project.processes.commands import IO_THREADS

SETTINGS = """\
Both sides: one worker, prefork, {concurrency} processes, no events, WARNING, JSON, Redis broker
with an append-only file. Engine: acks late, prefetch 1, durable PostgreSQL (fsync and
synchronous_commit on), started by start_batch in batches of 100, one worker for steps and chord
bodies, no beat. Celery: acks early and prefetch 4 (its defaults), results ignored (chords keep
theirs in Redis), one producer, the last task of each graph counts itself in Redis; nothing is
durable."""


def throughput(outcomes: list[Outcome], concurrency: int) -> None:
    """Print one row per workload."""
    if not outcomes:
        return
    print(f"\n{SETTINGS.format(concurrency=concurrency)}\n")
    print(
        f"{'':5} {'engine':>9} {'Celery':>9} {'':>6} {'CPU ms a step':>15} {'starting':>9}\n"
        f"{'':5} {'steps/s':>9} {'steps/s':>9} {'ratio':>6} {'engine':>8}{'Celery':>7} "
        f"{'share':>9}  target"
    )
    for outcome in outcomes:
        ours, theirs = _rate(outcome.engine), _rate(outcome.celery)
        wanted = outcome.workload.wanted
        verdict = _verdict(outcome.ratio >= wanted) if theirs else "not compared"
        print(
            f"{outcome.workload.name:5} {ours:9,.0f} {theirs:9,.0f} {outcome.ratio:6.2f} "
            f"{_cpu(outcome.engine):8.3f}{_cpu(outcome.celery):7.3f} "
            f"{_starting(outcome.engine):8.0%}   >= {wanted:g} x: {verdict}"
        )
    print("\nwhere the CPU goes, ms a step:")
    for outcome in outcomes:
        for side, found in (("engine", outcome.engine), ("Celery", outcome.celery)):
            if found:
                print(f"  {outcome.workload.name} {side}: {_parts(found)}")


def latencies(found: Latencies | None) -> None:
    """Print the table of W3."""
    if found is None:
        return
    print(f"\nW3, ms {'':28} {'p50':>7} {'p95':>7} {'p99':>7}")
    rows = [
        ("request sent -> answered 202", found.answered, 10),
        ("request sent -> first line", found.first_line, 15),
        ("request sent -> recorded", found.recorded, None),
        ("message -> first line (lease)", found.lease, 10),
        ("message published -> claimed", found.dispatch, 75),
        ("plain Celery, no HTTP", found.plain, None),
    ]
    for name, row, target in rows:
        if row is not None:
            wanted = "" if target is None else f"  p95 <= {target}: {_verdict(row.p95 <= target)}"
            print(f"  {name:33} {row.p50:7.1f} {row.p95:7.1f} {row.p99:7.1f}{wanted}")


def in_flight(found: InFlight | None) -> None:
    """Print the table of W4."""
    if found is None:
        return
    print(f"\nW4, calls of 2 s on one worker of {IO_THREADS} threads")
    for side, calls in (("engine", found.engine), ("Celery", found.celery)):
        if calls is not None:
            wanted = f"  >= 200: {_verdict(calls.peak >= 200)}" if side == "engine" else ""
            print(
                f"  {side}: {calls.peak} in flight at most; {calls.repetition.rate:.1f} calls/s "
                f"over {calls.connections} connections, {calls.repetition.cpu_ms:.1f} ms CPU a "
                f"call{wanted}\n    of these: {_parts([calls.repetition])}"
            )


def triggering(found: Triggering | None) -> None:
    """Print the table of W5."""
    if found is None:
        return
    print("\nW5, executions accepted a second by 2 server processes, 16 clients, no worker")
    rows = [
        ("one a request", found.single, f">= 0.6 x bare: {_verdict(found.ratio >= 0.6)}"),
        ("bare DRF view, one row", found.bare, f"ratio {found.ratio:.2f}"),
        ("in batches", found.batch, f">= 2,000: {_verdict(found.batch >= 2_000)}"),
    ]
    for name, rate, verdict in rows:
        print(f"  {name:24} {rate:8,.0f}   {verdict}")
    late = found.at_half
    print(
        f"  at {found.half_rate:,.0f} requests/s: p50 {late.p50:.1f}, p95 {late.p95:.1f}, "
        f"p99 {late.p99:.1f} ms; p95 <= 60: {_verdict(late.p95 <= 60)}; "
        f"{found.refused} requests not accepted"
    )


def growth(found: Growth) -> None:
    """Print the memory of a worker's child."""
    print(
        f"\nmemory of a worker's child (PSS): {found.pss[1_000]:.1f} MiB after 1,000 steps, "
        f"{found.pss[10_000]:.1f} MiB after 10,000: {found.share:+.1%}; "
        f"<= {MOST:.0%}: {_verdict(found.share <= MOST)}"
    )
    maps = ", ".join(f"{pss:.1f}" for pss in found.maps)
    print(f"after maps of 10,000 items each: {maps} MiB")


def modules(found: Start) -> None:
    """Print the cost of installed modules at a start."""
    print(
        f"\n{MODULES} modules by entry points: {found.added:.1f} ms more until a worker has loaded "
        f"and warmed up what it knows ({found.bare:.1f} ms without them); "
        f"<= {MOST_MS:.0f} ms: {_verdict(found.added <= MOST_MS)}"
    )


def sleepers(found: Sleep) -> None:
    """Print the API's latencies at rest and while all executions wake up."""
    print(
        f"\n{found.sleepers:,} executions asleep until one instant "
        f"({found.falling:.1f} s to fall asleep)\n"
        f"woken after it: p50 {found.late.p50:.1f} s, p95 {found.late.p95:.1f} s; ended: the first "
        f"after {found.first:.1f} s, all after {found.ended:.1f} s "
        f"({found.sleepers / found.ended:,.0f} a second)\n\n"
        f"{'API, ms':18} {'at rest p50':>12} {'p95':>7}   {'waking p50':>12} {'p95':>7} {'p99':>7} "
        f"{'worst':>7} {'requests':>9}"
    )
    for name, row in found.answers.items():
        print(
            f"{name:18} {row.rest.p50:12.1f} {row.rest.p95:7.1f}   {row.burst.p50:12.1f} "
            f"{row.burst.p95:7.1f} {row.burst.p99:7.1f} {row.worst:7.1f} {row.requests:9,}"
        )


def tables(found: list[Listed]) -> None:
    """Print one row per list and user."""
    print(f"\n{'list, ms':28} {'as':11} {'p50':>8} {'p95':>8}   p95 <= 100")
    for row in found:
        verdict = _verdict(row.times.p95 <= 100 and not row.faults)
        more = "; ".join(row.faults) if row.status == 200 else f"answers {row.status}"
        print(
            f"{row.name:28} {row.who:11} {row.times.p50:8.1f} {row.times.p95:8.1f}   "
            f"{verdict} {more}".rstrip()
        )


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _rate(found: list[Repetition]) -> float:
    return median([one.rate for one in found] or [0.0])


def _cpu(found: list[Repetition]) -> float:
    return median([one.cpu_ms for one in found] or [0.0])


def _starting(found: list[Repetition]) -> float:
    return median([one.starting / one.seconds for one in found])


def _parts(found: list[Repetition]) -> str:
    names = ("workers", "postgres", "redis", "publisher")
    return ", ".join(
        f"{name} {median(1000 * getattr(one.usage, name) / one.steps for one in found):.3f}"
        for name in names
    )
