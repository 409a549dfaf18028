"""docs/reference/configuration.md lists every setting, and every variable that the code reads."""

import re
from pathlib import Path

from django.core.management import call_command

from executions.checks import classes
from executions.configuration.model import variables_of
from executions.configuration.reference import END

PROJECT = Path(__file__).parents[2]
NAME = (
    r"(?:(?:VALKYR|RUNNER|FLOWER|LOOP_LIMIT|CHECKPOINT|CIRCUIT_BREAKER)_[A-Z0-9_]+|DATABASE_[A-Z_]*URL|REDIS_URL|PORT|CHROMIUM"
    r"|CELERY_(?:BROKER_URL|RESULT_BACKEND)|DEFAULT_(?:FAILURE|RECOVERY)_[A-Z]+)"
)
# Set for Flower's own process, from FLOWER_PASSWORD.
INTERNAL = {"FLOWER_BASIC_AUTH"}


def read_by_the_code() -> set[str]:
    folders = (
        "valkyr_project", "executions", "runners", "dlq", "valkyr_plugins", "tests/support",
        "tests/browser",
    )  # fmt: skip
    found: set[str] = set()
    for folder in folders:
        for path in (PROJECT / folder).rglob("*.py"):
            found.update(re.findall(rf'"({NAME})"', path.read_text()))
    return found - INTERNAL


def of_settings() -> set[str]:
    """Return the variables that contain settings."""
    return {
        variable
        for kind in classes()
        for name, field in kind.model_fields.items()
        for variable in variables_of(field, name)
    }


def documented() -> set[str]:
    page = (PROJECT / "docs" / "reference" / "configuration.md").read_text()
    _, _, rows = page.partition(END)
    return {match[1] for row in rows.splitlines() if (match := re.match(rf"\| `({NAME})` \|", row))}


def test_the_page_of_settings_is_current() -> None:
    call_command("describe_settings", check=True)


def test_every_variable_the_code_reads_is_documented() -> None:
    assert sorted(read_by_the_code() - documented() - of_settings()) == []


def test_every_documented_variable_is_read() -> None:
    # tests/support/servers.py builds these two from parts.
    assembled = {"VALKYR_TEST_DATABASE_URL", "VALKYR_TEST_REDIS_URL"}

    assert sorted(documented() - read_by_the_code() - assembled) == []
