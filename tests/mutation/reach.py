"""The lines of the mutated packages and the statements that each test reaches, and its duration.

They are stored for each test file, by its content: only changed files are measured again. For a
mutated file that has changed since, only the tests that reach it are known, and not its lines.
"""

import ast
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.mutation.applied import FOLDERS, statements_of
from tests.mutation.mutants import PROJECT, SQL, Mutant
from tests.mutation.warm import PLAIN, Warm

ROOMS = ("runners/pipeline", "runners/planning")
MEASURING = (*PLAIN, "--timeout=300")
MOST_SECONDS = 900.0


@dataclass
class Reached:
    """The lines and statements that one test executes, and its duration."""

    seconds: float
    lines: dict[str, list[int]] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    changed: frozenset[str] = frozenset()  # files of which the lines are others now

    def executes(self, file: str, lines: set[int]) -> bool:
        """Return whether the test executes one of these lines, as far as that is known."""
        there = self.lines.get(file, ())
        return bool(there if file in self.changed else lines.intersection(there))


class Measuring:
    """A pytest plugin that records which test executes which lines and statements, under
    coverage.
    """

    def __init__(self) -> None:
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, include=[f"{PROJECT / room}/*" for room in ROOMS]
        )
        self._statements: dict[str, set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._test = ""

    def begin(self, folder: Path) -> None:
        """Record everything from now on."""
        for name, statements in FOLDERS.items():
            self._listen(name, statements)
        self._coverage.start()

    def _listen(self, folder: str, statements: Any) -> None:
        usual = statements.kept

        def kept(name: str) -> bool:
            self._statements[self._test].add(f"{folder}/{name}")
            return bool(usual(name))

        statements.kept = kept

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record the duration and the lines of each test."""
        self._test = item.nodeid
        self._coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        answer = yield
        self._seconds[item.nodeid] = time.perf_counter() - began
        return answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record failed tests: a test that fails without a mutant says nothing about one."""
        if report.failed or report.skipped:
            self._failed.add(report.nodeid)

    def told(self) -> dict[str, Any]:
        """Return the recorded data, as JSON values."""
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[str, list[int]]] = defaultdict(dict)
        for file in data.measured_files():
            name = Path(file).relative_to(PROJECT).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                for test in filter(None, tests):
                    lines[test].setdefault(name, []).append(line)
        return {
            "tests": {
                test: [seconds, lines.get(test, {}), sorted(self._statements.get(test, ()))]
                for test, seconds in self._seconds.items()
                if test not in self._failed
            },
            "unfit": sorted(self._failed),
        }


class Reach:
    """All tests of the given files."""

    def __init__(self, folder: Path) -> None:
        """Create the object without measurements; results are stored in `folder`."""
        self._folder = folder
        self._sources = {
            file.relative_to(PROJECT).as_posix(): _mark(file)
            for room in ROOMS
            for file in (PROJECT / room).glob("*.py")
        }
        self.tests: dict[str, Reached] = {}

    def measure(self, warm: Warm, files: Sequence[str]) -> None:
        """Measure the tests that are not measured yet."""
        for number, file in enumerate(files, 1):
            kept = self._folder / f"{file.replace('/', '.')}.{_mark(PROJECT / file)}.json"
            if not kept.exists():
                self._measure(warm, file, kept, f"{number} of {len(files)}")
            if not kept.exists():
                continue
            known = json.loads(kept.read_text())
            changed = frozenset(dict(known["sources"].items() - self._sources.items()))
            for test, (seconds, lines, statements) in known["tests"].items():
                self.tests[test] = Reached(seconds, lines, statements, changed)

    def _measure(self, warm: Warm, file: str, kept: Path, which: str) -> None:
        plugin = Measuring()
        ran = warm.run([file], plugin.begin, seconds=MOST_SECONDS, options=MEASURING, plugin=plugin)
        tests = ran.told.get("tests", {})
        print(f"{which}: {file}: {len(tests)} tests, {ran.seconds:.0f} s", flush=True)
        if ran.told.get("unfit") or not tests:
            print(f"  left out: {ran.told.get('unfit')}\n{ran.output[-1_000:]}", flush=True)
        if tests:
            kept.write_text(json.dumps({"sources": self._sources, "tests": tests}))

    def reaching(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute the changed lines. For lines that run at import, return
        those that use their names, or else all that reach the file.
        """
        if mutant.group == SQL:
            names = statements_of(mutant.file)
            return [test for test, one in self.tests.items() if names & set(one.statements)]
        wanted = set(mutant.lines)
        found = [test for test, one in self.tests.items() if one.executes(mutant.file, wanted)]
        if found or _in_function(mutant):
            return found
        used = _uses(mutant)
        found = [test for test, one in self.tests.items() if one.executes(mutant.file, used)]
        return found or [test for test, one in self.tests.items() if mutant.file in one.lines]


def _uses(mutant: Mutant) -> set[int]:
    """Return the lines that use a constant whose own line is changed."""
    tree = ast.parse((PROJECT / mutant.file).read_text())
    names = {
        one.id
        for node in tree.body
        if isinstance(node, ast.Assign) and node.lineno in mutant.lines
        for target in node.targets
        for one in ast.walk(target)
        if isinstance(one, ast.Name)
    }
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
    }


def _mark(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _in_function(mutant: Mutant) -> bool:
    """Return whether the line is indented more than a class's members."""
    line = (PROJECT / mutant.file).read_text().splitlines()[mutant.lines[0] - 1]
    return (
        line.startswith("    ")
        and not line.lstrip().startswith(("def ", "async def "))
        and (line.startswith("        ") or not _in_class(mutant))
    )


def _in_class(mutant: Mutant) -> bool:
    lines = (PROJECT / mutant.file).read_text().splitlines()[: mutant.lines[0] - 1]
    heads = [line for line in lines if line and not line[0].isspace() and line[0] not in ")@#"]
    return bool(heads) and heads[-1].startswith("class ")
