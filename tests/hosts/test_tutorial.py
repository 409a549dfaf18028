"""The tutorial for a Django project, executed as printed, in a new folder, within a time limit."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.hosts.project import database_of_its_own
from tests.support.uv import PROJECT
from tests.support.wheel import wheel
from valkyr import __version__
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.child import start_child
from valkyr_project.embedded.folders import postgres_bin

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]
PAGE = PROJECT / "docs" / "tutorial" / "django-project.md"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
MINUTES = 10
LINES = 15


class Reader:
    """A user who types what the page shows, in two terminals."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment
        self._second: subprocess.Popen[bytes] | None = None
        self.said = ""

    def type(self, block: str) -> None:
        """Type a block; a program that the page starts in a second terminal keeps running."""
        if "celery -A" in block:
            self._open(block)
            return
        begin = "set -eu\n" + (". .venv/bin/activate\n" if self._has_venv else "")
        done = subprocess.run(
            ["bash", "-c", begin + block],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, (
            f"{block}\n{done.stdout[-3000:]}{done.stderr[-5000:]}{self.log}"
        )
        self.said = done.stdout

    def edit(self, block: str) -> None:
        """Replace the lines with the same keys by the page's two lines."""
        settings = self.folder / "shop" / "settings.py"
        text = settings.read_text()
        for line in block.splitlines():
            key = line.strip().partition(":")[0]
            # The first NAME is that of DATABASES; those of validators follow.
            text, times = re.subn(rf"^ *{key}: .*$", line, text, count=1, flags=re.MULTILINE)
            assert times == 1, line
        settings.write_text(text)

    def stop(self) -> None:
        """Close the second terminal."""
        if self._second is not None:
            os.killpg(self._second.pid, signal.SIGTERM)
            try:
                self._second.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._second.pid, signal.SIGKILL)
                self._second.wait()

    @property
    def log(self) -> str:
        """Return the last output of the second terminal."""
        file = self.folder / "celery.log"
        return file.read_text()[-4000:] if file.exists() else ""

    @property
    def _has_venv(self) -> bool:
        return (self.folder / ".venv" / "bin" / "activate").exists()

    def _open(self, block: str) -> None:
        with (self.folder / "celery.log").open("wb") as log:
            self._second = start_child(
                ["bash", "-c", block],
                death_signal=signal.SIGTERM,
                cwd=self.folder,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def test_the_first_durable_run_ends_within_ten_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = FENCE.findall(PAGE.read_text())
    constraint = tmp_path / "constraints.txt"
    constraint.write_text(f"valkyr=={__version__}\n")
    wheels = wheel().parent  # built before the clock starts
    folder = tmp_path / "project"
    folder.mkdir()
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/10"
    with database_of_its_own("tutorial") as server:
        # The page makes its own database.
        environment = server | {
            "PATH": f"{postgres_bin(server_account())}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "PGDATABASE": "postgres",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_CONSTRAINT": str(constraint),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
            "PIP_NO_COMPILE": "1",  # Python compiles the imports
            "CELERY_BROKER_URL": broker,
            "C_FORCE_ROOT": "1",
        }
        reader = Reader(folder, environment)
        started, taken = time.monotonic(), 0.0
        before: dict[str, list[str]] = {}
        try:
            for kind, block in blocks:
                if kind == "python":
                    before = _files(folder)
                    reader.edit(block)
                elif kind == "text":
                    assert block.strip() in reader.said
                    taken = time.monotonic() - started
                else:
                    reader.type(block)
        finally:
            reader.stop()
            subprocess.run(
                ["psql", "--quiet", "--command", "DROP DATABASE IF EXISTS shop WITH (FORCE)"],
                env=environment, check=True, timeout=120,
            )  # fmt: skip
    changed = _changed(before, _files(folder))
    with capsys.disabled():
        print(f"\nthe first durable run ended after {taken:.0f} s; {changed} lines changed")
    assert 0 < taken < MINUTES * 60
    assert 0 < changed <= LINES
    assert "problem" not in reader.said


def _files(folder: Path) -> dict[str, list[str]]:
    """Return the user's own files, with their lines."""
    return {str(path): path.read_text().splitlines() for path in (folder / "shop").glob("*.py")}


def _changed(before: dict[str, list[str]], after: dict[str, list[str]]) -> int:
    """Return the number of lines added or changed in existing files, not counting blank ones."""
    return sum(
        1
        for name, lines in before.items()
        for line in after[name]
        if line.strip() and line not in lines
    )
