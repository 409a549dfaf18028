"""One mutant and its tests: the likeliest run first, up to the first that fails."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.applied import apply, statements_of
from tests.mutation.mutants import SQL, Mutant
from tests.mutation.reach import Reach
from tests.mutation.session import (
    KILLED,
    NOT_APPLIED,
    NOT_REACHED,
    SURVIVED,
    TIMED_OUT,
    Result,
    Session,
)
from tests.mutation.warm import QUIET, Warm

RACES = "tests/concurrency/"
WORD = re.compile(r"\w+")
# Seconds after which a run, and a single test, counts as endless, and so many times its duration
# without a mutant.
AT_LEAST, AT_LEAST_ONE, TIMES = 30.0, 10.0, 5.0


class Judge:
    """A warm process, and the known facts about the tests."""

    def __init__(
        self,
        folder: Path,
        files: Sequence[str],
        session: Session,
        budget: float,
        first: tuple[str, ...] = (),
    ) -> None:
        """Load the tests of these files; those that begin with one of `first` run before others."""
        self._session, self._budget, self._first = session, budget, first
        self._warm = Warm(files)
        self._reach = Reach(folder)
        self._reach.measure(self._warm, files)

    def judge(self, mutant: Mutant, others: Sequence[Mutant]) -> Result:
        """Run the tests of a mutant; return the result."""
        tests, seconds = self._chosen(mutant, [one for one in others if one.file == mutant.file])
        if not tests:
            return Result(mutant.key, NOT_REACHED)
        longest = max(self._reach.tests[test].seconds for test in tests)
        ran = self._warm.run(
            tests,
            lambda folder: apply(mutant, folder),
            seconds=AT_LEAST + TIMES * seconds,
            options=(*QUIET, f"--timeout={AT_LEAST_ONE + TIMES * longest:.0f}"),
        )
        if ran.code == 0:
            outcome = SURVIVED
        elif ran.code == -1:
            outcome = TIMED_OUT
        elif ran.first_failed:
            outcome = KILLED
        elif "NotApplied" in ran.output:
            outcome = NOT_APPLIED
        else:  # it could not be loaded, or ended the whole process
            outcome = KILLED
        by = ran.first_failed or (ran.output[-300:] if outcome == KILLED else "")
        return Result(mutant.key, outcome, by, round(ran.seconds, 1), len(tests))

    def close(self) -> None:
        """End all processes."""
        self._warm.close()

    def _chosen(self, mutant: Mutant, others: Sequence[Mutant]) -> tuple[list[str], float]:
        """Return the tests that reach the mutant, within the budget: those that killed others of
        its file, then the cheapest of each file of tests, then the second of each.
        """
        killers, tests = self._session.killers(others), self._reach.tests
        found = self._reach.reaching(mutant)
        named = named_after(mutant)
        found.sort(key=lambda test: tests[test].seconds)
        turns = _turns(found)
        # The test of this statement runs first, then races for guards. Tests of one file resemble
        # each other, so many of one come after some of all.
        found.sort(
            key=lambda test: (
                not test.startswith(self._first),
                not named & set(WORD.findall(test.partition("[")[2])),
                -killers[test] / (0.2 + tests[test].seconds),
                mutant.group == SQL and not test.startswith(RACES),
                turns[test],
                tests[test].seconds,
            )
        )
        chosen: list[str] = []
        spent = 0.0
        for test in found:
            if not chosen or spent + tests[test].seconds <= self._budget:
                chosen.append(test)
                spent += tests[test].seconds
        return chosen, spent


def _turns(tests: Sequence[str]) -> dict[str, int]:
    """Return the position of each test among those of its file."""
    seen: Counter[str] = Counter()
    turns = {}
    for test in tests:
        file = test.partition("::")[0]
        turns[test] = seen[file]
        seen[file] += 1
    return turns


def named_after(mutant: Mutant) -> frozenset[str]:
    """Return the names of the changed statements; tests of these statements have the names as
    parameters.
    """
    if mutant.group != SQL:
        return frozenset()
    return frozenset(name.rpartition("/")[2] for name in statements_of(mutant.file))
