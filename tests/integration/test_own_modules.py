"""A user's own modules: created by the command, installed from a package, tested by the kit."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from tests.support import migrated
from tests.support.running import output_of

PROJECT = Path(__file__).parents[2]
DATABASE = f"test_own_modules_{os.getpid()}"
EXAMPLE = PROJECT / "examples" / "own-steps"
# Django empties the tables after each of these, the audit trail too.
COMMITS = """import pytest
from executions.access.actor import Actor, record
from executions.models import Activity


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [1, 2])
def test_tests_that_commit_leave_nothing(number):
    assert not Activity.objects.exists()
    record(Actor(None, "ada"), "x.y", workspace_id=None, object_type="Thing", object_id="1")
"""


def new_module(*words: str, into: Path) -> str:
    return str(call_command("new_module", *words, "--into", str(into)))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder on Python's path, with the example's package really installed in it."""
    folder = tmp_path_factory.mktemp("own")
    # Building writes into the source, so a copy is built.
    source = folder / "source"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    python("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index",
           "--no-compile", "--target", str(folder / "site"), str(source), site=folder)  # fmt: skip
    shutil.rmtree(source / "src")
    return folder


def python(*words: str, site: Path) -> str:
    """Run this Python as on a host with Valkyr's code and the folder's packages."""
    path = os.pathsep.join([str(PROJECT), str(site / "site"), str(site)])
    database = {"VALKYR_TEST_DATABASE_NAME": DATABASE}
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | database
    return output_of([sys.executable, *words], folder=site, environment=environment, seconds=280)


@pytest.fixture
def kept(django_db_setup: None) -> Iterator[list[str]]:
    """Yield pytest's options for using an existing database, if a template database exists."""
    if settings.DATABASES["default"]["TEST"].get("TEMPLATE") != migrated.NAME:
        yield []
        return
    with migrated.copied(DATABASE):
        yield ["--reuse-db"]


def test_an_installed_packages_modules_are_found(site: Path) -> None:
    said = python(
        "-c",
        "from runners.modules.registry import specs; known = specs(); "
        "print(*(f'{n}={known[n].title}' for n in known if n.startswith('shop.')), sep='; ')",
        site=site,
    )

    assert said.strip() == "shop.discount=Discount; shop.size=Size; shop.stock=Ask the warehouse"


def test_what_is_written_is_sound_and_its_tests_pass_beside_the_examples(
    site: Path, kept: list[str]
) -> None:
    said = new_module("till.big_discount", into=site)
    new_module("till.small_discount", "--class", into=site)

    (site / "till_steps" / "test_commits.py").write_text(COMMITS)
    files = {path.name for path in (site / "till_steps").iterdir() if path.is_file()}
    assert files == {"__init__.py", "test_commits.py"} | {
        f"{start}{size}_discount.py" for start in ("", "test_") for size in ("big", "small")
    }
    assert "VALKYR_EXTRA_MODULES=till_steps.big_discount" in said
    assert "use: till.big_discount" in said
    python("-m", "ruff", "check", "--isolated", "--line-length", "100", "--select", "E,F,W,B,UP",
           "till_steps", site=site)  # fmt: skip
    ran = python("-m", "pytest", "-q", "-p", "valkyr_project.pytest_plugin", "-p",
                 "no:cacheprovider", "-W", "error", *kept, "till_steps", "source/tests",
                 site=site)  # fmt: skip
    assert "17 passed" in ran


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("discount", "expected two or more words"),
        ("Shop.Discount", "expected two or more words"),
        ("shop.../../etc", "expected two or more words"),
        ("shop.class", "'class' is a Python keyword"),
        ("http.request", "a module of type 'http.request' already exists"),
    ],
)
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        new_module(name, into=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_module("shop.discount", into=tmp_path)
    (tmp_path / "shop_steps" / "discount.py").write_text("mine")

    with pytest.raises(CommandError, match="already exist"):
        new_module("shop.discount", into=tmp_path)

    assert (tmp_path / "shop_steps" / "discount.py").read_text() == "mine"
