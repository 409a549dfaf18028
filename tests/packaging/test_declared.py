"""The code's imports equal pyproject.toml's dependencies and the packages that `make up` pins."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain

import pytest

from tests.support.uv import PROJECT

DECLARED = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = DECLARED["optional-dependencies"]
ENGINE = ("executions", "runners", "dlq")
OURS = {"valkyr", *ENGINE, "valkyr_plugins", "valkyr_project"}
# Installed by the packages next to them.
WITH = {
    "asgiref": "django",
    "amqp": "kombu",
    "billiard": "celery",
    "click": "celery",
    "redis": "kombu",
    "attrs": "jsonschema",
    "referencing": "jsonschema",
    "jsonschema-specifications": "jsonschema",
    "anyio": "httpx",
    "httpcore": "httpx",
    "httpx2": "mcp",
    "mcp-types": "mcp",
    "boto3": "tink",
    "botocore": "tink",
    "aiobotocore": "s3fs",
    # The namespace `google`, of which we use protobuf.
    "googleapis-common-protos": "tink",
    "pyjwt": "djangorestframework-simplejwt",
    "requests": "django-allauth",
    "tornado": "flower",
    "opentelemetry-proto": "opentelemetry-exporter-otlp-proto-http",
}
# Imported under another name than the index has.
DISTRIBUTED_AS = {"quickjs": "quickjs-ng"}
# Imported if installed; otherwise the code works without it, or says what to install.
OPTIONAL = {
    "boto3",
    "fsspec",
    "botocore",
    "django-csp",
    "django-unfold",
    "googleapis-common-protos",
    "pytest",
    "tink",
}


def name_of(requirement: str) -> str:
    """Return the distribution that a requirement names."""
    found = re.match(r"[\w.-]+", requirement)
    assert found, requirement
    return canonical(found[0])


def canonical(name: str) -> str:
    """Return a distribution's name in the index."""
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(packages: tuple[str, ...]) -> dict[str, set[str]]:
    """Return the distributions that packages import, with the importing files."""
    whose = packages_distributions()
    found = defaultdict(set)
    for file in chain.from_iterable((PROJECT / one).rglob("*.py") for one in packages):
        if "node_modules" not in file.parts:
            for name in _names(ast.parse(file.read_text())):
                if name in whose:
                    found[canonical(_one(whose[name]))].add(str(file.relative_to(PROJECT)))
    return found


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        yield from {name.partition(".")[0] for name in names} - OURS - sys.stdlib_module_names


def _one(distributions: list[str]) -> str:
    """Return the distribution that Valkyr uses, of those that share a package (`google`,
    `opentelemetry`).
    """
    return next((one for one in distributions if canonical(one) in ALL), distributions[0])


CORE = {name_of(one) for one in DECLARED["dependencies"]}
ALL = CORE | {name_of(one) for one in chain.from_iterable(EXTRAS.values())} - {"valkyr"}


def brought_by(extra: str) -> set[str]:
    """Return the distributions that an extra installs, including those of extras that it names."""
    names = {name_of(one) for one in EXTRAS[extra]} - {"valkyr"}
    inner = re.findall(r"valkyr\[([\w,-]+)\]", " ".join(EXTRAS[extra]))
    return names.union(*(brought_by(one) for text in inner for one in text.split(",")))


def test_what_the_apps_import_is_a_dependency() -> None:
    found = imported(ENGINE)
    missing = {
        name: sorted(files)
        for name, files in found.items()
        if WITH.get(name, name) not in CORE and name not in CORE | OPTIONAL
    }
    assert missing == {}, "declare it in pyproject.toml, or import it where it is installed"


def test_what_anything_imports_is_a_dependency_or_in_an_extra() -> None:
    found = imported((*ENGINE, "valkyr_plugins", "valkyr_project", "valkyr"))
    missing = {
        name: sorted(files)
        for name, files in found.items()
        if WITH.get(name, name) not in ALL and name not in ALL | OPTIONAL
    }
    assert missing == {}, "declare it in pyproject.toml"


def test_the_platform_pins_what_the_distribution_declares() -> None:
    lines = (PROJECT / "requirements.in").read_text().splitlines()
    pinned = {name_of(line) for line in lines if line and not line.startswith("#")}
    assert ALL - pinned == set(), "make up would lack them: add them to requirements.in"
    assert pinned - ALL == set(), "no extra has them: add them to one in pyproject.toml"


def test_nothing_is_capped() -> None:
    capped = [
        one
        for one in chain(DECLARED["dependencies"], *EXTRAS.values())
        if re.search(r"[<=~]=?\d|==", one.replace(">=", ""))
    ]
    assert capped == [], "a cap keeps projects from upgrading; say beside it which release breaks"


@pytest.mark.parametrize("extra", ["platform"])
def test_the_platform_has_every_extra(extra: str) -> None:
    named = {word for one in EXTRAS[extra] for word in re.findall(r"[\w-]+", one)}
    assert EXTRAS.keys() - {extra} - named == set()


def test_a_module_names_an_extra_that_brings_its_package() -> None:
    from valkyr_plugins.connectors.types import NEEDS, TYPES

    assert NEEDS.keys() <= TYPES.keys()
    for type_name, (package, extra) in NEEDS.items():
        assert DISTRIBUTED_AS.get(package, package) in brought_by(extra), type_name
