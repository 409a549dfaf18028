"""`python -m tests.chaos`: start servers, run the faults, write the report."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tests.chaos.options import Options, parse
from tests.chaos.places import APART, FOLLOWED, PLACES, broker_of
from tests.chaos.stage import Stage, configure_alone

if TYPE_CHECKING:
    from tests.chaos.fault import Fault
    from tests.chaos.outcome import Outcome


def main(options: Options) -> int:
    """Run the selected faults; return the exit code."""
    if options.listed:
        return _list()
    with ExitStack() as stack:
        alone = options.only[0] if len(options.only) == 1 else ""
        place = PLACES.get(alone)
        home = None if place is None else stack.enter_context(place())
        broker = broker_of(alone, options.broker)
        say(f"seed {options.seed}; starting PostgreSQL and {broker}")
        stage = stack.enter_context(
            Stage(broker, home, followed=alone in FOLLOWED, partitions=options.partitions)
        )
        return _try(stage, options)


def _try(stage: Stage, options: Options) -> int:
    from tests.chaos import report
    from tests.chaos.faults import chosen
    from tests.chaos.outcome import all_kept

    outcomes = _outcomes(stage, options, chosen(options.only))
    facts = report.facts(options)
    print(report.as_text(outcomes, facts, options))
    if options.json:
        options.json.write_text(report.as_json(outcomes, facts))
    if options.report:
        report.write(options.report, outcomes, facts)
    return 0 if all_kept(outcomes) else 1


def _outcomes(stage: Stage, options: Options, faults: "Sequence[Fault]") -> "list[Outcome]":
    from tests.chaos import apart, report, trial
    from tests.chaos.needs import missing
    from tests.chaos.world import World

    world = World(
        stage,
        options.seed,
        quick=options.quick,
        minutes=options.minutes,
        kills=options.kills,
        crowd=options.crowd,
    )
    outcomes = []
    try:
        say("starting workers, beat and API")
        world.build()
        for number, fault in enumerate(faults, 1):
            say(f"[{number}/{len(faults)}] {fault.slug}: {fault.title}")
            if reason := missing(fault.needs, options.broker):
                outcomes.append(trial.not_run(fault, reason))
            elif fault.slug in APART and len(faults) > 1:
                outcomes.append(apart.run(fault, options))
            else:
                outcomes.append(trial.run(fault, world))
            say(report.line(outcomes[-1]))
    finally:
        world.stop()
    return outcomes


def _list() -> int:
    configure_alone()
    from tests.chaos.faults import TABLE

    for fault in TABLE:
        needs = f" (needs {', '.join(fault.needs)})" if fault.needs else ""
        print(f"{fault.slug:22} {fault.title}: {fault.promise}{needs}")
    return 0


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def _end(*_: Any) -> None:
    """Exit by the normal order of shutdown, so that everything started ends too."""
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    try:
        sys.exit(main(parse(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit("interrupted")
