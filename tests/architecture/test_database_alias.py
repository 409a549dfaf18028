"""Valkyr's code uses the alias of its tables; Django's `connection` is `default`."""

import ast
from pathlib import Path

import pytest

from tests.support.stack import PROJECT

APPS = ("executions", "runners", "dlq", "valkyr_plugins")
DJANGO = {"django.db", "django.db.transaction"}
OF_DEFAULT = {"connection", "transaction", "DEFAULT_DB_ALIAS"}
# Modules that find our alias, and those that keep views out of transactions around requests, of any
# alias.
BELOW = {
    "executions/api/endpoint.py",
    "executions/database/routing.py",
    "executions/database/transaction.py",
}


def files(app: str) -> list[Path]:
    return [
        file
        for file in sorted((PROJECT / app).rglob("*.py"))
        if "migrations" not in file.parts and "node_modules" not in file.parts
    ]


def of_default(tree: ast.AST) -> list[str]:
    """Return the names that a module imports from `django.db` and that use the database
    `default`.
    """
    return [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in DJANGO
        for alias in node.names
        if alias.name in OF_DEFAULT or node.module == "django.db.transaction"
    ]


@pytest.mark.parametrize("app", APPS)
def test_no_module_takes_the_database_default(app: str) -> None:
    found = {
        name: wrong
        for file in files(app)
        if (name := file.relative_to(PROJECT).as_posix()) not in BELOW
        and (wrong := of_default(ast.parse(file.read_text())))
    }

    assert found == {}, "take connection and transaction from executions.database"


def test_the_check_sees_what_it_should() -> None:
    assert of_default(ast.parse("from django.db import models, transaction")) == ["transaction"]
    assert of_default(ast.parse("from django.db import IntegrityError, connections")) == []
