"""`python -m tests.simulation`: start a server, run a number of seeds, print the summary."""

import argparse
import gc
import importlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[2] / ".pytest_cache/d/migrated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds; return 1 if one of them found a problem."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first one")
    parser.add_argument("--seed", type=int, help="this one alone, with its trace")
    parser.add_argument("--seconds", type=float, help="begin no further seed after so long")
    parser.add_argument("--stop", action="store_true", help="stop at the first that fails")
    parser.add_argument("--break", dest="broken", default="", help="leave out a guard (bugs.py)")
    given = parser.parse_args(arguments)
    with _database():
        return _replay(given) if given.seed is not None else _run(given)


def _run(given: Any) -> int:
    from tests.simulation import bugs
    from tests.simulation.world import Simulation

    counts: Counter[str] = Counter()
    failed: list[int] = []
    began = shown = time.monotonic()
    done = 0
    with Simulation() as simulation, bugs.broken(given.broken):
        for seed in range(given.first, given.first + given.seeds):
            if given.seconds and time.monotonic() - began > given.seconds:
                break
            outcome = simulation.run(seed)
            done += 1
            counts.update(outcome.counts)
            if outcome.problems:
                failed.append(seed)
                print(f"seed {seed} ({outcome.digest}):", flush=True)
                print("\n".join(f"  {line[:1500]}" for line in outcome.problems[:8]), flush=True)
                if given.stop:
                    break
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                print(f"{done} of {given.seeds}, {len(failed)} failed", flush=True)
    seconds = time.monotonic() - began
    facts = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
    print(f"{done} seeds from {given.first} in {seconds:.0f} s ({done / seconds:.1f}/s): {facts}")
    print(f"failed: {', '.join(map(str, failed)) or 'none'}")
    if failed:
        print("Replay one with its trace: make simulate ARGS='--seed " + f"{failed[0]}'")
    return 1 if failed else 0


def _replay(given: Any) -> int:
    from tests.simulation import bugs
    from tests.simulation.world import Simulation

    with Simulation() as simulation, bugs.broken(given.broken):
        outcome = simulation.run(given.seed)
    print("\n".join(outcome.trace))
    print(f"seed {given.seed}, trace {outcome.digest}, {outcome.seconds:.2f} s")
    print("\n".join(outcome.problems) or "as the interpreter says")
    return 1 if outcome.problems else 0


class _Blocker:
    """Replaces pytest-django's blocker."""

    def unblock(self) -> Any:
        """Do nothing: no access is blocked here."""
        return nullcontext()


@contextmanager
def _database() -> Iterator[None]:
    """Use the tests' own server and settings, with a migrated database."""
    importlib.import_module("tests.conftest")  # sets Django up and starts the servers

    gc.enable()
    logging.getLogger().setLevel(logging.ERROR)
    from django.conf import settings

    from tests.support import migrated
    from tests.support.engine_database import engine_database

    KEPT.mkdir(parents=True, exist_ok=True)
    settings.DATABASES["default"]["TEST"]["TEMPLATE"] = migrated.provide(KEPT)
    with engine_database(_Blocker()):
        yield


if __name__ == "__main__":
    sys.exit(main())
