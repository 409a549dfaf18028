"""docs/reference/errors.md explains every error code, and each problem's `type` links to it.

The page that installations serve is generated from it; write it with `VALKYR_WRITE=1
.venv/bin/python -m pytest -q` and this file.
"""

import ast
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rest_framework import exceptions
from rest_framework.test import APIClient

from executions import errors
from executions.api import problems
from tests.support.stack import PROJECT

PAGE = PROJECT / "docs" / "reference" / "errors.md"
SERVED = PROJECT / "executions" / "templates" / "executions" / "error_reference.html"
SECTION = re.compile(r"^### (\S+)\n\n\*\*(\d{3})\.\*\*", re.MULTILINE)
ROW = re.compile(r"^\| (`[\w.]+`(?:, `[\w.]+`)*) \|", re.MULTILINE)
APPS = ("executions", "runners", "dlq", "valkyr_plugins", "valkyr_project")
# Calls whose `code=` or second argument is an error's code.
RAISING = {
    "AuthenticationFailed", "ConfigProblem", "DefinitionProblem", "ErrorDetail", "ParseError",
    "TokenRefused", "ValidationError", "problem",
}  # fmt: skip
CODE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z]+)?")
RESTATED = {
    # Views answer with another status than the error's own.
    "callback_gone": 410,
    "execution_failed": 502,
    "not_authentic": 401,
    "second_factor_throttled": 401,
    "second_factor_wrong": 401,
    "token_unknown": 401,
}


def sections() -> dict[str, int]:
    return {code: int(status) for code, status in SECTION.findall(PAGE.read_text())}


def sources() -> Iterator[Path]:
    for app in APPS:
        for path in (PROJECT / app).rglob("*.py"):
            if "migrations" not in path.parts and "frontend" not in path.parts:
                yield path


def raised(tree: ast.AST) -> Iterator[str]:
    """Yield the codes that occur in calls."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func).rpartition(".")[2] not in RAISING:
            continue
        given = [word.value for word in node.keywords if word.arg == "code"]
        for value in [*given, *node.args[1:2]]:
            text = value.value if isinstance(value, ast.Constant) else None
            if isinstance(text, str) and CODE.fullmatch(text):
                yield text


def kinds(kind: type) -> Iterator[type]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds(below)


@pytest.fixture(scope="module")
def ours() -> dict[str, type[errors.ValkyrError]]:
    """Return every error of Valkyr by its code, the most general first."""
    for path in sources():
        if "class " in path.read_text() and "code = " in path.read_text():
            name = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
            importlib.import_module(name)
    found: dict[str, type[errors.ValkyrError]] = {}
    for kind in kinds(errors.ValkyrError):
        if kind.__module__.split(".")[0] in APPS:
            found.setdefault(kind.code, kind)  # type: ignore[attr-defined]
    return found


def test_every_error_has_a_section_with_its_status(
    ours: dict[str, type[errors.ValkyrError]],
) -> None:
    expected = {
        code: RESTATED.get(
            code,
            next((problems.STATUSES[k] for k in kind.__mro__ if k in problems.STATUSES), 422),
        )
        for code, kind in ours.items()
    }

    assert len(expected) > 60
    assert {code: sections().get(code) for code in expected} == expected


def test_every_code_of_the_framework_has_a_section() -> None:
    codes = {kind.default_code for kind in kinds(exceptions.APIException)} - {"error"}  # type: ignore[attr-defined]

    assert sorted(codes - sections().keys()) == []


def test_every_code_that_is_raised_is_explained() -> None:
    rows = ROW.findall(PAGE.read_text())
    explained = sections().keys() | {code.strip("`") for row in rows for code in row.split(", ")}
    found = {code for path in sources() for code in raised(ast.parse(path.read_text()))}
    found |= {f"{language}_code_off" for language in ("javascript", "python")}

    assert len(found) > 120
    assert sorted(found - explained) == []


def test_the_served_page_is_made_from_the_one_in_docs() -> None:
    made = MarkdownIt("commonmark").enable("table").render(PAGE.read_text())
    made = re.sub(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', r"\1", made, flags=re.DOTALL)
    made = re.sub(
        r"<(h[23])>(.*?)</", lambda found: f'<{found[1]} id="{_slug(found[2])}">{found[2]}</', made
    )
    assert "{%" not in made
    if os.environ.get("VALKYR_WRITE"):
        SERVED.write_text("{% verbatim %}" + made + "{% endverbatim %}\n")

    assert SERVED.read_text() == "{% verbatim %}" + made + "{% endverbatim %}\n"


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")


@pytest.mark.django_db
def test_the_type_of_a_problem_leads_to_its_explanation(stranger: APIClient) -> None:
    refused = stranger.get("/v1/Workflow")
    kind = refused.json()["type"]
    page, _, anchor = kind.partition("#")

    shown = stranger.get(page, headers={"Accept": "text/html"})

    assert anchor == refused.json()["code"] == "not_authenticated"
    assert shown.status_code == 200
    assert f'id="{anchor}"' in shown.content.decode()
