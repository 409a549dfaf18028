"""Only `executions/vendor_seams` uses libraries' private parts, and a test pins each seam.

ruff's SLF001 reports `thing._private` (see pyproject.toml for the few files of optional packages
that have their own seam). This file checks the rest: private names given as text, assignments to
attributes of imported modules and classes, and overridden private methods.
"""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
APPS = ("executions", "runners", "dlq", "valkyr_plugins", "valkyr_project", "valkyr")
SEAMS = PROJECT / "executions" / "vendor_seams"
PINS = PROJECT / "tests" / "unit" / "vendor_seams"
# Seams of optional packages, pinned in tests/unit/vendor_seams/test_plugins.py and tests/plugins.
TEXT = {
    "valkyr_plugins/connectors/files/inputs.py: _is_text_encoding",
    "valkyr_plugins/connectors/files/s3/connection.py: _s3creator",
}
OVERRIDDEN = {
    "valkyr_plugins.alerts.admin.alert_rules.AlertRuleForm._post_clean",
    "valkyr_plugins.connectors.mail.delivery.GuardedSmtp._get_socket",
    "valkyr_plugins.connectors.messaging.redis_sending.Guarded._connect",
    "valkyr_plugins.sso.views._Callback._get_state",
}
# Private by name, documented for subclasses: jmespath's functions.
DOCUMENTED = ("_func_",)
# Intended to be set: sys.stdout and similar.
MAY_SET = {"sys"}
# Programs, which run when they are imported.
PROGRAMS = ("valkyr_plugins.connectors.code.confined", "runners.isolation.child")


LIST = """
import django
django.setup()
from tests.architecture import test_vendor_seams as here
for one in here.classes():
    if not one.__module__.startswith("executions.vendor_seams"):
        print(*here.overridden(one))
"""


def files() -> list[Path]:
    return [
        file
        for app in APPS
        for file in sorted((PROJECT / app).rglob("*.py"))
        if SEAMS not in file.parents and "node_modules" not in file.parts
    ]


def named(file: Path) -> str:
    return str(file.relative_to(PROJECT))


def private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__")


def given_as_text(tree: ast.AST) -> Iterator[str]:
    """Yield private names that `getattr` and similar functions get, for anything except `self`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name) and call.func.id in {"getattr", "setattr", "hasattr"}:
            thing, name = call.args[:2]
            own = isinstance(thing, ast.Name) and thing.id in {"self", "cls"}
            if isinstance(name, ast.Constant) and private(name.value) and not own:
                yield str(name.value)


def foreign_names(tree: ast.Module) -> set[str]:
    """Return third-party modules and classes that a file imports at its top."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in APPS:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def patched(tree: ast.Module) -> Iterator[str]:
    """Yield attributes that are set on third-party imports."""
    foreign = foreign_names(tree)
    for node in ast.walk(tree):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AugAssign | ast.AnnAssign)
            else []
        )
        for target in targets:
            root: ast.expr = target
            while isinstance(root, ast.Attribute):
                root = root.value
            if root is not target and isinstance(root, ast.Name) and root.id in foreign - MAY_SET:
                yield ast.unparse(target)


def classes() -> Iterator[type]:
    """Yield every class of Valkyr, by importing every module."""
    for app in APPS:
        for found in pkgutil.walk_packages(importlib.import_module(app).__path__, f"{app}."):
            if ".migrations" in found.name or found.name.startswith(PROGRAMS):
                continue
            module = importlib.import_module(found.name)
            yield from (
                one
                for one in vars(module).values()
                if inspect.isclass(one) and one.__module__ == found.name
            )


def overridden(one: type) -> Iterator[str]:
    """Yield private functions of third-party classes that a class of Valkyr replaces."""
    theirs = [base for base in one.__mro__[1:] if base.__module__.partition(".")[0] not in APPS]
    for name, value in vars(one).items():
        ours = inspect.isfunction(value) and value.__module__ == one.__module__
        hidden = ours and private(name) and not name.startswith(DOCUMENTED)
        if hidden and any(name in vars(base) for base in theirs):
            yield f"{one.__module__}.{one.__qualname__}.{name}"


def test_no_private_name_of_others_is_given_as_text() -> None:
    found = {
        f"{named(file)}: {name}"
        for file in files()
        for name in given_as_text(ast.parse(file.read_text()))
    }

    assert found == TEXT, "use a function of executions/vendor_seams instead"


def test_nothing_of_others_is_patched() -> None:
    found = {
        f"{named(file)}: {name}"
        for file in files()
        for name in patched(ast.parse(file.read_text()))
    }

    assert found == set(), "patch it in executions/vendor_seams"


def test_no_private_method_of_others_is_overridden() -> None:
    # In a separate process, since tests should not run with everything imported.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LIST],
        cwd=PROJECT,
        check=True,
        stdout=subprocess.PIPE,
    )

    found = set(done.stdout.decode().split())
    assert found == OVERRIDDEN, "override it in executions/vendor_seams"


@pytest.mark.parametrize("seam", sorted(file.stem for file in SEAMS.glob("[a-z]*.py")))
def test_a_seam_says_what_it_relies_on_and_is_pinned(seam: str) -> None:
    text = ast.get_docstring(ast.parse((SEAMS / f"{seam}.py").read_text())) or ""

    for heading in ("Relies on:", "No public way:", "If it breaks:"):
        assert f"\n{heading}" in text, f"{seam}.py does not say {heading!r}"
    assert (PINS / f"test_{seam}.py").is_file(), f"{seam}.py has no test in {PINS}"
