"""A project in a clean environment with the wheel, its database, and its processes.

`django-admin startproject` creates it; `Edits` are the lines that the docs tell its owner to write.
"""

import json
import os
import secrets
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.support.waiting import wait_until
from tests.support.wheel import Environment
from valkyr_project.embedded.child import free_port, start_child

PASSWORD = secrets.token_urlsafe(16)
# As `manage.py` would, with its settings; a process takes a second to begin.
PREPARE = """
import json, os, re, sys
from pathlib import Path

text = Path("manage.py").read_text()
found = re.search(r'"DJANGO_SETTINGS_MODULE", *"([^"]+)"', text.replace("\'", '"'))
os.environ["DJANGO_SETTINGS_MODULE"] = found[1]
os.environ["DJANGO_SUPERUSER_PASSWORD"] = sys.argv[2]
sys.path.insert(0, os.getcwd())
import django
from django.conf import settings
from django.core.management import call_command

django.setup()
databases, account = json.loads(sys.argv[1])
for name in ("default", *databases):
    call_command("migrate", verbosity=0, database=name)
call_command("createsuperuser", interactive=False, verbosity=0, **account)
if settings.STATIC_ROOT:
    call_command("collectstatic", interactive=False, verbosity=0)
"""


@dataclass(frozen=True)
class Edits:
    """Lines to append to files of the project, by the files' names, and lines to replace."""

    replaced: Mapping[str, tuple[str, str]]
    appended: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Make the edits, as the docs describe."""
        for name, (old, new) in self.replaced.items():
            text = (folder / name).read_text()
            assert old in text, f"{name} has no {old!r}"
            (folder / name).write_text(text.replace(old, new))
        for name, more in self.appended.items():
            with (folder / name).open("a") as file:
                file.write(more)


class HostProject:
    """A project's folder and its processes; `stop` ends them."""

    def __init__(self, folder: Path, environment: Environment, **named: str) -> None:
        """Use a folder with `manage.py`; `named` is in the environment of its processes."""
        self.folder = folder
        self.port = free_port()
        self._python = environment.python
        self._named = named
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        """The URL of the project's web process."""
        return f"http://127.0.0.1:{self.port}"

    def manage(self, *command: str, **named: str) -> str:
        """Run `manage.py` and return its output; fail with its errors."""
        done = self._run("manage.py", *command, **named)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-5000:]}"
        return done.stdout

    def refused(self, *command: str, **named: str) -> str:
        """Run `manage.py`, which must fail, and return its error."""
        done = self._run("manage.py", *command, **named)
        assert done.returncode != 0, f"{command}: {done.stdout[-3000:]}"
        return done.stderr

    def prepare(self, *databases: str, **account: str) -> None:
        """Migrate, create a superuser and collect static files, all in one process."""
        done = self._run("-c", PREPARE, json.dumps([databases, account]), PASSWORD)
        assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-5000:]}"

    def _run(self, *command: str, **named: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._python, *command],
            cwd=self.folder,
            env=self._environment() | named,
            capture_output=True,
            text=True,
            timeout=600,  # a host's own migrations take long on a busy machine
            check=False,
        )

    def start(self, name: str, *module: str) -> None:
        """Start `python -m <module>` under a name."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running[name] = start_child(
                [self._python, *module],
                death_signal=signal.SIGTERM,
                cwd=self.folder,
                env=self._environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def serve(self, page: str) -> None:
        """Start the web process; return when a page answers."""
        self.start("web", "manage.py", "runserver", "--noreload", f"127.0.0.1:{self.port}")
        address = f"{self.url}/{page}"
        wait_until(lambda: self._answers(address), 60, f"an answer of {address}; {self.logs()}")

    def pid(self, name: str) -> int:
        """Return the id of the process that was started under a name."""
        return self._running[name].pid

    def logs(self) -> str:
        """Return the last lines of each process's log."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {file.name}\n{file.read_text()[-3000:]}" for file in files)

    def stop(self) -> None:
        """End every process, by its own pid."""
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self._named}

    def _answers(self, page: str) -> bool:
        import httpx

        for name, process in self._running.items():
            assert process.poll() is None, f"{name} has ended\n{self.logs()}"
        try:
            return httpx.get(page, timeout=120).status_code == 200
        except httpx.HTTPError:
            return False


def started(folder: Path, environment: Environment, name: str) -> Path:
    """Create a project with `django-admin startproject`; return its folder."""
    made = folder / name
    made.mkdir()
    done = environment.run("-m", "django", "startproject", name, ".", cwd=made)
    assert done.returncode == 0, done.stderr
    return made


@contextmanager
def database_of_its_own(name: str, like: str = "template1") -> Iterator[dict[str, str]]:
    """Create a database on the tests' server, empty or a copy; yield the environment variables for
    libpq.
    """
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')  # type: ignore[arg-type]
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')  # type: ignore[arg-type]
        known = connection.info
        variables = {
            "PGHOST": known.host,
            "PGPORT": str(known.port),
            "PGUSER": known.user,
            "PGPASSWORD": known.password,
            "PGDATABASE": name,
        }
    try:
        yield variables
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]
