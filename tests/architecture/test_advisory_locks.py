"""Each advisory lock has its own number, and every number is in one enumeration."""

import re
from pathlib import Path

from executions.database.advisory_locks import AdvisoryLock

ROOT = Path(__file__).parents[2]
APPS = ("executions", "runners", "dlq", "valkyr_plugins", "valkyr_project", "valkyr")


def test_no_lock_number_is_written_outside_the_enumeration() -> None:
    numbers = {str(lock.value) for lock in AdvisoryLock}
    found = [
        f"{path.relative_to(ROOT)}: {literal}"
        for app in APPS
        for path in (ROOT / app).rglob("*")
        if path.suffix in {".py", ".sql"} and path.name != "advisory_locks.py"
        for literal in re.findall(r"\b\d[\d_]{9,}\b", path.read_text())
        if literal.replace("_", "") in numbers
    ]

    assert found == []


def test_the_numbers_differ() -> None:
    assert len({lock.value for lock in AdvisoryLock}) == len(AdvisoryLock.__members__)
