"""The result for each mutant, stored line by line, so that an interrupted run continues."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutation.mutants import GROUPS, Mutant

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
KILLED, TIMED_OUT, SURVIVED, NOT_REACHED = "killed", "timed out", "survived", "not reached"
NOT_APPLIED = "not applied"  # read by imports only, such as a dataclass's default: not judged
DEAD = (KILLED, TIMED_OUT)


@dataclass
class Result:
    """The result of one mutant."""

    key: str
    outcome: str
    test: str = ""  # what killed it
    seconds: float = 0.0
    tests: int = 0  # how many were to run


class Session:
    """All results so far."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.results: dict[str, Result] = {}
        self.read()

    def read(self) -> None:
        """Read the results that a concurrent run has written."""
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                result = Result(**json.loads(line))
                self.results[result.key] = result

    def add(self, result: Result) -> None:
        """Store one result."""
        self.results[result.key] = result
        with self._file.open("a") as out:
            out.write(json.dumps(asdict(result)) + "\n")

    def killers(self, mutants: Iterable[Mutant]) -> Counter[str]:
        """Return how many of these mutants each test has killed; the best test runs first for the
        next mutant.
        """
        found = [self.results.get(one.key) for one in mutants]
        return Counter(one.test for one in found if one is not None and one.test)


class Equivalents:
    """Mutants that behave as the original does, with the reason; see the file."""

    def __init__(self, file: Path = EQUIVALENT) -> None:
        rows = tomllib.loads(file.read_text()).get("equivalent", [])
        self._why = {(row["file"], row["was"], row["becomes"]): row["why"] for row in rows}

    def why(self, mutant: Mutant) -> str:
        """Return the reason; "" for a mutant that is not listed."""
        return str(self._why.get((mutant.file, mutant.was, mutant.becomes), ""))

    def unknown(self, mutants: Iterable[Mutant]) -> list[str]:
        """Return entries whose mutant no longer exists."""
        there = {(one.file, one.was, one.becomes) for one in mutants}
        return [f"{file}: {was}" for file, was, _ in self._why.keys() - there]


def report(mutants: Sequence[Mutant], session: Session, equivalents: Equivalents) -> str:
    """Return a table by group, and every survivor."""
    names = ("group", "mutants", *DEAD, SURVIVED, NOT_REACHED, NOT_APPLIED, "equivalent", "share")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    total: Counter[str] = Counter()
    for group in GROUPS:
        counts = _counts([one for one in mutants if one.group == group], session, equivalents)
        if sum(counts.values()):
            lines.append(_row(group, counts))
            total += counts
    lines.append(_row("together", total))
    for mutant in mutants:
        result = session.results.get(mutant.key)
        if result and result.outcome not in (*DEAD, NOT_APPLIED) and not equivalents.why(mutant):
            lines.append(f"\n{mutant.place} [{mutant.key}] {mutant.operator}: {result.outcome}")
            lines.append(mutant.diff())
    return "\n".join(lines)


def _counts(mutants: Iterable[Mutant], session: Session, equivalents: Equivalents) -> Counter[str]:
    counts: Counter[str] = Counter()
    for mutant in mutants:
        result = session.results.get(mutant.key)
        if result is None:
            continue
        alive = result.outcome not in DEAD
        counts["equivalent" if alive and equivalents.why(mutant) else result.outcome] += 1
    return counts


def _row(name: str, counts: Counter[str]) -> str:
    number = sum(counts.values())
    judged = number - counts["equivalent"] - counts[NOT_APPLIED]
    dead = sum(counts[one] for one in DEAD)
    share = f"{100 * dead / judged:.1f} %" if judged else "-"
    columns = [counts[one] for one in (*DEAD, SURVIVED, NOT_REACHED, NOT_APPLIED, "equivalent")]
    return f"| {name} | {number} | " + " | ".join(map(str, columns)) + f" | {share} |"
