"""The Dockerfile's contents without an image, because no container engine runs here.

Its COPY lines fill a folder, and its RUN line collects the static files. The image's own entry
point then starts web, workers and beat from the folder, without write access to it. The packages
are those of this environment; `make` checks that they install by their hashes.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.fleet import KEY_PREFIX, database_url, publishing_to
from tests.support.folders import passable_folder
from tests.support.stack import PROJECT
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end
from valkyr_project.embedded import Redis
from valkyr_project.embedded.child import free_port, start_child

DOCKERFILE = (PROJECT / "deploy" / "Dockerfile").read_text()


class Tree:
    """The image's folder, and processes started from it without privileges."""

    def __init__(self, top: Path, redis_url: str) -> None:
        self.app, self.writable = top / "app", top / "writable"
        self.writable.mkdir()
        self.port = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.writable),
            "VALKYR_HOME": str(self.writable / "home"),
            "VALKYR_STATIC_ROOT": str(self.app / "static"),
            "VALKYR_SECRET_KEY": os.environ["VALKYR_SECRET_KEY"],
            "VALKYR_KEY": os.environ["VALKYR_KEY"],
            "VALKYR_KEY_PREFIX": KEY_PREFIX,
            "DATABASE_URL": database_url(),
            "REDIS_URL": redis_url,
            "PORT": str(self.port),
        }

    def build(self) -> None:
        """Run the Dockerfile's COPY and RUN lines, then make the folder read-only."""
        for names, target in re.findall(r"^COPY (?!--)(.+) (\S+)$", DOCKERFILE, re.MULTILINE):
            for name in names.split():
                copied = self.app / (name if target == "./" else target)
                copied.parent.mkdir(parents=True, exist_ok=True)
                if (PROJECT / name).is_dir():
                    # With the byte code, because compiling it again takes a while.
                    shutil.copytree(PROJECT / name, copied)
                else:
                    shutil.copy(PROJECT / name, copied)
        packages = [one.name for one in self.app.iterdir() if (one / "__init__.py").is_file()]
        for command in (
            ("manage.py", "collectstatic", "--noinput", "--verbosity", "0"),
            ("-m", "compileall", "-q", *packages),
        ):
            subprocess.run(
                [sys.executable, *command], cwd=self.app, env=self.environment, check=True
            )
        for path in (self.app, *self.app.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)

    def writes(self) -> bool:
        """Return whether a process with the same rights could create a file in the folder."""
        return self._popen("-c", f"open({str(self.app / 'mine')!r}, 'w')").wait(30) == 0

    def run(self, *words: str) -> None:
        """Start a process by the image's entry point."""
        self.processes[" ".join(words)] = self._popen("-m", "valkyr_project.run", *words)

    def well(self, kind: str) -> bool:
        """Return whether such a container's health check succeeds."""
        for name, process in self.processes.items():
            assert process.poll() is None, f"{name} ended:\n{self.said()}"
        return self._popen("runners/process/signs_of_life.py", kind).wait(30) == 0

    def said(self) -> str:
        """Return the last output of all processes."""
        return (self.writable.parent / "log").read_text()[-4000:]

    def files(self) -> set[Path]:
        """Return all files of the read-only part."""
        return set(self.app.rglob("*"))

    def stop(self, seconds: float = 40) -> dict[str, int]:
        """Ask all processes to end, as `docker stop` does; return their exit codes."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        try:
            return {name: one.wait(seconds) for name, one in self.processes.items()}
        finally:
            for process in self.processes.values():
                process.kill()

    def _popen(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.writable.parent / "log").open("ab") as log:
            return start_child(
                [*_without_rights(), sys.executable, *words],
                cwd=self.app,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                death_signal=signal.SIGKILL,
            )


@pytest.fixture
def tree(engine: None) -> Iterator[Tree]:
    with passable_folder() as top, passable_folder() as home:
        redis = Redis(home, durable=False)
        try:
            redis.start()
            made = Tree(top, redis.url)
            with publishing_to(redis.url):
                yield made
        finally:
            redis.stop()


def _without_rights() -> tuple[str, ...]:
    """Return a command prefix with which even root may do only what file modes allow; empty for
    other users.

    Another account, as in the image, might not reach the Python of this environment.
    """
    if os.geteuid() != 0:
        return ()
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


def test_everything_runs_from_a_tree_in_which_it_cannot_write(tree: Tree) -> None:
    tree.build()
    before = tree.files()
    assert not tree.writes()
    tree.run("migrate", "--wait", "60")
    assert tree.processes.pop("migrate --wait 60").wait(60) == 0, tree.said()

    tree.run("web", "--port", str(tree.port))
    tree.run("worker", "--queue", "control")
    tree.run("worker", "--queue", "default", "--concurrency", "2")
    tree.run("beat")
    try:
        for kind in ("web", "worker", "beat"):
            wait_until(lambda kind=kind: tree.well(kind), 90, f"a sign of life of {kind}")
        steps = [task("one", "flow.noop"), task("two", "flow.noop", "one")]
        execution = start(publish({"tasks": steps}))
        assert wait_for_end([execution], 60) == {execution: "SUCCESS"}
        with httpx.Client(base_url=f"http://127.0.0.1:{tree.port}", timeout=120) as client:
            page = client.get("/admin/login/")
            assert page.status_code == 200
            style = re.search(r'href="(/static/[^"]+\.css)"', page.text)
            assert style is not None
            assert client.get(style[1]).status_code == 200
    finally:
        codes = tree.stop()
    assert set(codes.values()) == {0}, f"{codes}\n{tree.said()}"
    assert tree.files() == before
