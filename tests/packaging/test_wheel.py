"""The wheel contains everything that the apps read at run time, and nothing else."""

import email
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import valkyr
from tests.support import wheel as wheels
from tests.support.uv import PROJECT

PACKAGES = ("valkyr", "executions", "runners", "dlq", "valkyr_plugins", "valkyr_project")


pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def wheel() -> Path:
    return wheels.wheel()


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """Return the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def committed(package: str) -> set[str]:
    """Return the files of a package in git, except the studio's sources."""
    told = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", package],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [name for name in told.stdout.splitlines() if (PROJECT / name).exists()]
    return {name for name in files if not name.startswith("executions/frontend/")}


def test_it_is_one_wheel_for_every_python_and_machine(wheel: Path) -> None:
    assert wheel.name == f"valkyr-{valkyr.__version__}-py3-none-any.whl"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_in_it(package: str, names: set[str]) -> None:
    assert committed(package) - names == set()
    assert f"{package}/py.typed" in names


def test_nothing_else_is_in_it(names: set[str]) -> None:
    expected = {name for package in PACKAGES for name in committed(package)}
    others = {n for n in names - expected if not n.startswith("executions/examples/")}
    assert {name.partition("/")[0] for name in others} == {f"valkyr-{valkyr.__version__}.dist-info"}


def test_the_built_studio_and_the_workflows_to_begin_with_are_in_it(names: set[str]) -> None:
    assert "executions/static/executions/studio/studio.js" in names
    assert "executions/examples/order-import/workflow.yaml" in names


def test_the_sdist_holds_the_sources_of_the_studio() -> None:
    (sdist,) = wheels.built().glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    assert "executions/frontend/package.json" in found
    assert not any("node_modules" in name for name in found)


def test_its_metadata_name_the_version_the_command_and_the_extras(wheel: Path) -> None:
    info = f"valkyr-{valkyr.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        said = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        commands = archive.read(f"{info}/entry_points.txt").decode()
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]

    assert said["Version"] == valkyr.__version__
    assert said["License-Expression"] == "Apache-2.0"
    assert set(said.get_all("Provides-Extra") or ()) == set(declared["optional-dependencies"])
    assert "valkyr = valkyr.cli:main" in commands
