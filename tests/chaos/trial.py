"""One fault from its beginning to its verdict."""

import shutil
import time
import traceback
from contextlib import suppress
from pathlib import Path

from tests.chaos import ledger
from tests.chaos.fault import Fault
from tests.chaos.outcome import Outcome
from tests.chaos.watch import LIMIT
from tests.chaos.world import World

END_SECONDS = 150.0  # the rest may take this long to end once the fault is over


def blank(fault: Fault) -> Outcome:
    """Return the row of a fault without results."""
    return Outcome(fault.slug, fault.title, fault.promise, fault.bound)


def not_run(fault: Fault, reason: str) -> Outcome:
    """Return the row of a fault that cannot be run here."""
    outcome = blank(fault)
    outcome.verdict, outcome.reason = "not run", reason
    return outcome


def run(fault: Fault, world: World) -> Outcome:
    """Inject the fault under load, then judge the result; keep the logs if a promise was broken."""
    outcome = blank(fault)
    begun = time.monotonic()
    try:
        world.begin(fault, outcome)
        _inject(fault, world, outcome)
        _judge(fault, world, outcome)
    except Exception as error:
        outcome.broken(_said(error))
    outcome.seconds = time.monotonic() - begun
    if outcome.verdict == "broken":
        outcome.logs = str(_keep_logs(world, fault))
    return outcome


def _inject(fault: Fault, world: World, outcome: Outcome) -> None:
    try:
        fault.run(world)
    except Exception as error:
        outcome.broken(_said(error))
    try:
        world.load.stop()
        world.fleet.ensure(90)
        world.wait_all_ended(END_SECONDS)
    except Exception as error:
        outcome.broken(_said(error))
    finally:
        world.watch.stop()


def _judge(fault: Fault, world: World, outcome: Outcome) -> None:
    ids = world.ids()
    found = ledger.read(world.load.accepted, ids, world.injured)
    outcome.accepted, outcome.refused = len(world.load.accepted), world.load.refused
    outcome.ended, outcome.effects = found.ended, found.effects
    outcome.repeats, outcome.fenced = found.repeats, world.fenced()
    outcome.unattended = world.watch.worst
    for problem in found.problems:
        outcome.broken(problem)
    for execution, seconds in world.watch.overlooked.items():
        rows = world.watch.rows.get(execution, "")
        outcome.broken(
            f"execution {execution} was unattended for {seconds:.0f} s; "
            f"allowed: {LIMIT:.0f} s\n{rows}"
        )
    worst = outcome.worst
    if fault.bound is not None and worst is None:
        outcome.broken("it recorded no recovery, so nothing was held against its bound")
    elif fault.bound is not None and worst is not None and not world.quick and _late(outcome):
        outcome.broken(f"a recovery took {worst:.1f} s; promised: under {fault.bound:g} s")


def _late(outcome: Outcome) -> bool:
    """Return whether the recoveries are late: by the 95th percentile if there are twenty or more,
    otherwise by the maximum.
    """
    assert outcome.bound is not None
    found = outcome.recovery
    assert found is not None
    late = found.p95 if len(outcome.recoveries) >= 20 else max(outcome.recoveries)
    return late > outcome.bound


def _said(error: Exception) -> str:
    if isinstance(error, AssertionError):
        return str(error) or "an assertion failed: " + traceback.format_exc(limit=-1)
    return "".join(traceback.format_exception(error))


def _keep_logs(world: World, fault: Fault) -> Path:
    kept = Path.cwd() / "test-artifacts" / "chaos" / f"{fault.slug}-{world.seed}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for log in [*world.folder.glob("*.log"), *world.folder.glob("*/log")]:
        name = log.name if log.suffix else f"{log.parent.name}.log"
        with suppress(OSError):
            shutil.copy(log, kept / name)
    return kept
