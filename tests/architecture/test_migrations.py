"""Migrations map app labels, because a project may relabel the engine's apps."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
APPS = ("executions", "runners", "dlq", "valkyr_plugins")
BASES = (
    "class Migration(executions.database.migrations.Migration)",
    "class Migration(executions.public.migrations.Migration)",
)


def _files() -> Iterator[str]:
    for app in APPS:
        for file in sorted((PROJECT / app).rglob("migrations/[0-9]*.py")):
            yield str(file.relative_to(PROJECT))


@pytest.mark.parametrize("path", list(_files()))
def test_a_migration_has_our_base(path: str) -> None:
    text = (PROJECT / path).read_text()

    assert any(base in text for base in BASES), (
        f"{path} derives from Django's Migration: its labels are not translated. Derive it from "
        "executions.database.migrations.Migration (in a plugin executions.public.migrations)."
    )


def test_later_migrations_lock_no_table_while_they_build_an_index() -> None:
    late = {path: found for path in _files() if "/0001_" not in path and (found := _late(path))}

    assert late == {}, (
        "These migrations add an index to a table that may be large, and lock it meanwhile. Use "
        "AddIndexWhileWritten in a migration of its own."
    )


def _late(path: str) -> list[str]:
    """Return the models of a migration that exist before it and get an index."""
    text = (PROJECT / path).read_text()
    made = set(re.findall(r"CreateModel\(\s*name=['\"](\w+)", text))
    indexed = re.findall(r"migrations\.AddIndex\(\s*model_name=['\"](\w+)", text)
    return [name for name in indexed if name.lower() not in {one.lower() for one in made}]
