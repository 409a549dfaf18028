"""`python -m tests.mutation`: change the engine in one place, and check whether a test notices."""

import argparse
import importlib
import logging
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / ".pytest_cache/d/mutation"
# Only tests in this process: tests that start other processes would not see the mutant there.
TESTS = (
    "tests/unit/runners/test_*.py",
    "tests/property/test_compensation.py",
    "tests/property/test_decide.py",
    "tests/property/test_planner.py",
    "tests/property/test_skipping.py",
    "tests/property/more_seeds.py",
    "tests/concurrency/test_[cdefghjmpqw]*.py",
    "tests/concurrency/test_admission_places.py",
    "tests/concurrency/test_re[cqs]*.py",
    "tests/concurrency/test_s[kt]*.py",
    "tests/plugins/circuits/concurrency/test_*.py",
    "tests/plugins/limits/concurrency/test_*.py",
    "tests/plugins/remote/concurrency/test_*.py",
    "tests/plugins/remote/test_api.py",
    "tests/plugins/short_lived/test_*.py",
    "tests/plugins/timetravel/concurrency/test_rollback.py",
    "tests/plugins/timetravel/test_checkpoints.py",
    "tests/plugins/timetravel/test_rollback*.py",
    "tests/integration/test_announcing.py",
    "tests/integration/test_batches.py",
    "tests/integration/test_children.py",
    "tests/integration/test_credential_boundaries.py",
    "tests/integration/test_credential_uses.py",
    "tests/integration/test_egress_rules.py",
    "tests/integration/test_explain.py",
    "tests/integration/test_judging.py",
    "tests/integration/test_odd_outputs.py",
    "tests/integration/test_orphans.py",
    "tests/integration/test_rendering_time.py",
    "tests/integration/test_sealed_payloads.py",
    "tests/integration/test_secrets.py",
    "tests/integration/test_trials.py",
    "tests/simulation/more_seeds.py",
)
SAMPLE = {"pipeline": 200, "planning": None, "sql": None}


def main(arguments: Sequence[str] | None = None) -> int:
    """Create the mutants, judge those that are not judged yet, and report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--group", action="append", choices=tuple(SAMPLE), help="only this one")
    parser.add_argument("--sample", type=int, help="so many of each group (200 of pipeline, all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="mutants whose place or key begins so")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for a mutant")
    parser.add_argument("--without", default="-", help="leave out files of tests that begin so")
    parser.add_argument("--first", action="append", default=[], help="tests that begin so go first")
    parser.add_argument("--minutes", type=float, help="begin no further mutant after so long")
    parser.add_argument("--survivors", action="store_true", help="again those that survived")
    parser.add_argument("--anew", action="store_true", help="again all of the sample")
    parser.add_argument("--list", action="store_true", help="what there is, run nothing")
    parser.add_argument("--report", action="store_true", help="what is known, run nothing")
    given = parser.parse_args(arguments)
    if _runs(given):
        importlib.import_module("tests.conftest")  # sets Django up and starts the servers

    from tests.mutation import mutants, session

    for folder in ("mutants", "reach"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    chosen = [
        one
        for group in given.group or SAMPLE
        for one in mutants.drawn(
            group, given.sample or SAMPLE[group], given.seed, FOLDER / "mutants"
        )
        if one.place.startswith(given.only) or one.key.startswith(given.only)
    ]
    kept, equivalents = session.Session(FOLDER / "results.jsonl"), session.Equivalents()
    if given.list:
        for one in chosen:
            print(f"{one.place} [{one.key}] {one.operator}\n{one.diff()}")
    elif _runs(given):
        _run(given, chosen, kept, equivalents)
    print(session.report(chosen, kept, equivalents))
    every = [one for group in SAMPLE for one in mutants.drawn(group, None, 1, FOLDER / "mutants")]
    for entry in equivalents.unknown(every):
        print(f"equivalent.toml names what is no mutant any more: {entry}")
    return 0


def _runs(given: Any) -> bool:
    return not (given.list or given.report)


def _run(given: Any, chosen: Sequence[Any], kept: Any, equivalents: Any) -> None:
    from tests.mutation.judging import Judge
    from tests.mutation.session import DEAD

    logging.getLogger().setLevel(logging.ERROR)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers end with this process
    todo = [one for one in chosen if given.anew or one.key not in kept.results]
    if given.survivors:
        todo = [
            one
            for one in chosen
            if one.key in kept.results
            and kept.results[one.key].outcome not in DEAD
            and not equivalents.why(one)
        ]
    Random(given.seed).shuffle(todo)  # a run that is cut short reports something about every group
    files = [
        name
        for one in TESTS
        for file in sorted(PROJECT.glob(one))
        if not (name := file.relative_to(PROJECT).as_posix()).startswith(given.without)
    ]
    judge = Judge(FOLDER / "reach", files, kept, given.budget, tuple(given.first))
    began = time.monotonic()
    try:
        for number, mutant in enumerate(todo, 1):
            if given.minutes and time.monotonic() - began > 60 * given.minutes:
                print(f"{len(todo) - number + 1} left; the same command goes on with them")
                break
            kept.read()
            if not (given.anew or given.survivors) and mutant.key in kept.results:
                continue
            result = judge.judge(mutant, chosen)
            kept.add(result)
            print(
                f"{number} of {len(todo)}: {mutant.place} {result.outcome}"
                f"{' by ' + result.test if result.test else ''}, {result.seconds:.1f} s",
                flush=True,
            )
    finally:
        judge.close()


if __name__ == "__main__":
    sys.exit(main())
