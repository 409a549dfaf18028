"""Real worker processes of the kinds that `make up` starts, which tests kill and restart.

They share the test database and their own Redis. A process is ready when its Runner row says so
(beat: when it holds the election's lock). All processes end with the fleet.
"""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import psutil
from celery import current_app
from django.db import connection

from executions.database.advisory_locks import AdvisoryLock
from runners.models import Runner
from runners.process import activity_slots
from runners.process.activity_slots import Note
from tests.support.folders import passable_folder
from tests.support.nursery import Begin, Process, from_project
from tests.support.reconfigured import reconfigure
from tests.support.stack import PROJECT, clean_environment
from tests.support.waiting import wait_until, wait_until_gone
from valkyr_project.embedded import Redis
from valkyr_project.processes.commands import CELERY

KEY_PREFIX = "valkyr-fleet:"
QUICK = {
    # The real ones are 20, 5, 2, 10 and 10 s; bounds that follow from them shrink with them.
    "VALKYR_LEASE_SECONDS": "6",
    "VALKYR_HEARTBEAT_SECONDS": "1.5",
    "VALKYR_GRACE_SECONDS": "1",
    "VALKYR_PATIENCE_SECONDS": "4",
    "VALKYR_STALL_SECONDS": "2",
    # Instead of 15 s: the interval of beat's and queues' duties, in fleets that mostly wait for
    # tests.
    "VALKYR_ALERT_LOOK_SECONDS": "4",
}
FLAGS = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")


class Member:
    """One process of a fleet; its Runner row has the same `name`."""

    def __init__(
        self, fleet: "Fleet", name: str, command: list[str], places: int = 0, /, **environment: str
    ) -> None:
        self.name = name
        self.places = places  # processes of its pool
        self.log = fleet.folder / f"{name}.log"
        self._command = command
        self._place, self._begin = fleet.place, fleet.begin
        # The names that `make up` uses: a process of another name would load the admin's pages.
        self._environment = fleet.environment | {"VALKYR_PROCESS": f"worker-{name}"} | environment
        self._process: Process | None = None
        self._before: Any = None
        self.start()

    @property
    def pid(self) -> int:
        """The process's id: for a prefork worker, the parent's."""
        assert self._process is not None
        return self._process.pid

    @property
    def children(self) -> list[int]:
        """The ids of the processes of a prefork worker's pool."""
        with suppress(psutil.NoSuchProcess):
            found = psutil.Process(self.pid).children()
            return [child.pid for child in found if child.status() != psutil.STATUS_ZOMBIE]
        return []

    def start(self) -> None:
        """Start the process for the first time or again after its end. Does not wait."""
        self._before = self._seen()
        with self.log.open("ab") as log:
            self._process = self._begin(
                self._command,
                folder=self._place,
                environment=self._environment,
                output=log.fileno(),
            )

    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def ready(self) -> bool:
        """Return whether the process has reported since its last start that it serves, and its pool
        is complete.

        A step that killed its process a moment ago may have left the pool one process short.
        """
        assert self.alive(), f"{self.name} ended:\n{self.log.read_text()[-3000:]}"
        if self.name.startswith("beat"):
            return _somebody_is_elected()
        # Looking for children reads every process of the machine, so it comes last.
        seen = self._seen() not in {None, self._before}
        return seen and len(self.children) >= self.places

    def kill(self) -> None:
        """Kill the process with SIGKILL, the parent first; its children end with it."""
        assert self._process is not None
        children = self.children
        self._process.kill()
        self._process.wait()
        wait_until_gone(children)

    def ask_to_stop(self) -> None:
        """Ask the process to finish its work and end."""
        assert self._process is not None
        for number in (signal.SIGCONT, signal.SIGTERM):
            self._process.send_signal(number)

    def executing(self) -> list[UUID]:
        """Return the runs whose steps the member's processes execute, including those no longer
        needed.

        The watchdog reads the same shared memory.
        """
        with suppress(OSError):  # it ends right now
            for shared in Path(f"/proc/{self.pid}/fd").iterdir():
                if str(shared.readlink()).startswith("/memfd:valkyr-stalls"):
                    with shared.open("rb") as memory:
                        return [note.run_id for note in _notes(memory.fileno())]
        return []

    def _seen(self) -> Any:
        # A worker's name is `<name>@<host>`; started_at distinguishes its starts.
        found = Runner.objects.filter(name__startswith=f"{self.name}@")
        return found.values_list("started_at", flat=True).first()


def _notes(descriptor: int) -> Iterator[Note]:
    """Yield the run that each thread of a live process works on."""
    for head in activity_slots.heads(descriptor):
        threads = Path(f"/proc/{head.pid}/task")
        if activity_slots.start_of(head.pid) == head.start:
            found = (int(thread.name) for thread in threads.iterdir())
            notes = (activity_slots.note_of(descriptor, head.place, thread) for thread in found)
            yield from filter(None, notes)


class Fleet:
    """Workers for every queue and a beat, on one Redis."""

    def __init__(
        self,
        folder: Path,
        redis_url: str,
        extra: Mapping[str, str] = QUICK,
        broker_url: str = "",
        begin: Begin = from_project,
    ) -> None:
        self.place = PROJECT  # the tree for members that are added from now on
        self.folder, self.begin = folder, begin
        self.environment = {
            **clean_environment(),
            "DATABASE_URL": database_url(),
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": broker_url or redis_url,
            "VALKYR_KEY_PREFIX": KEY_PREFIX,
            "VALKYR_SECRET_KEY": os.environ["VALKYR_SECRET_KEY"],
            "VALKYR_PLUGINS": os.environ.get("VALKYR_PLUGINS", ""),
            "VALKYR_REMOTE_QUEUES": os.environ.get("VALKYR_REMOTE_QUEUES", ""),
            "VALKYR_PYTHON_CODE": "1",
            "VALKYR_JAVASCRIPT_CODE": "1",
            "VALKYR_KEY": os.environ["VALKYR_KEY"],
            "VALKYR_EXTRA_MODULES": "tests.support.modules,tests.support.row_steps,"
            "tests.support.knocking_step,tests.support.agent_step",
            "VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
            "VALKYR_LLM_PRICES": '{"scripted": {"input": 1000, "output": 10000}}',
            "VALKYR_SQL_ALLOWED_HOSTS": database_url()
            .rpartition("@")[2]
            .removeprefix("postgres://"),
            "VALKYR_FILES_ROOT": str(folder / "files"),
            "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
            "PYTHONUNBUFFERED": "1",
            **extra,
        }
        self.members: dict[str, Member] = {}

    def worker(
        self, name: str, queue: str, pool: str, concurrency: int, **environment: str
    ) -> Member:
        """Add a worker of one queue, with its own environment variables in addition to the
        fleet's.
        """
        command = [
            *(*CELERY, "worker", "-n", f"{name}@%h", "-Q", queue, "--pool", pool),
            *("--concurrency", str(concurrency), *FLAGS),
        ]
        places = concurrency if pool == "prefork" else 0
        own = {"VALKYR_POOL": pool} | environment
        self.members[name] = Member(self, name, command, places, **own)
        return self.members[name]

    def beat(self, name: str = "beat", **environment: str) -> Member:
        """Add a beat; names of further beats begin with `beat`. Of several beats, one is
        elected.
        """
        command = [*CELERY, "beat", "--loglevel", "WARNING", "--pidfile", ""]
        own = {"VALKYR_PROCESS": "beat"} | environment
        self.members[name] = Member(self, name, command, **own)
        return self.members[name]

    def remove(self, name: str) -> None:
        """Remove a member, and kill it if it still runs."""
        member = self.members.pop(name)
        if member.alive():
            member.kill()

    def everybody(self) -> None:
        """Add what tests need: with two prefork workers, one is left when the other is killed."""
        self.worker("control", "control", "threads", 4)
        self.worker("default-1", "default", "prefork", 2)
        self.worker("default-2", "default", "prefork", 2)
        self.worker("io", "io", "threads", 16)
        self.beat()

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def ensure(self, seconds: float = 60) -> None:
        """Restart the members that ended, and return when all are ready."""
        for member in self.members.values():
            if not member.alive():
                member.start()
        for member in self.members.values():
            wait_until(member.ready, seconds, f"{member.name}'s readiness")

    def executing(self) -> list[UUID]:
        """Return the runs in the slots of the prefork workers."""
        return [run for m in self.members.values() if m.places for run in m.executing()]

    def member_of(self, pid: int) -> Member:
        """Return the member whose process, or child process, has this id."""
        for member in self.members.values():
            if pid in {member.pid, *member.children}:
                return member
        raise LookupError(f"process {pid} is nobody's here")

    def stop(self, seconds: float = 4) -> None:
        """End all members: ask them to stop at the same time, and kill those that are late."""
        members = self.members.values()
        for member in members:
            member.ask_to_stop()
        with suppress(AssertionError):
            wait_until(lambda: not any(m.alive() for m in members), seconds)
        for member in members:
            if member.alive():
                member.kill()

    def few(self, queues: str = "default", *, io: bool = False) -> None:
        """Add what a chain needs: one prefork worker of `queues`, and one of `io` if requested."""
        self.worker("control", "control", "threads", 2)
        self.worker("default", queues, "prefork", 2)
        if io:
            self.worker("io", "io", "threads", 4)
        self.beat()

    @contextmanager
    def running(self) -> Iterator["Fleet"]:
        """Start all members and wait until they are ready; stop them at the block's end."""
        try:
            self.ensure()
            yield self
        finally:
            self.stop()


@contextmanager
def redis_of_a_fleet() -> Iterator[Redis]:
    """Start an empty Redis, to which this process also sends its messages."""
    with passable_folder() as home:
        server = Redis(home, durable=False)
        server.start()
        try:
            with publishing_to(server.url):
                yield server
        finally:
            server.stop()


def database_url() -> str:
    """Return the URL of this process's database (the tests' own)."""
    given = connection.settings_dict
    user = f"{quote(given['USER'])}:{quote(given['PASSWORD'])}@" if given["USER"] else ""
    servers = zip(given["HOST"].split(","), given["PORT"].split(","), strict=True)
    places = ",".join(f"{host}:{port}" for host, port in servers)
    kept = given["OPTIONS"].get("target_session_attrs")
    which = f"?target_session_attrs={kept}" if kept else ""
    return f"postgres://{user}{places}/{given['NAME']}{which}"


@contextmanager
def publishing_to(redis_url: str) -> Iterator[None]:
    """Send this process's messages to that Redis, under the fleet's prefix."""
    app = current_app._get_current_object()
    changed: dict[str, Any] = {
        "broker_url": redis_url,
        # Listed, because after a write they no longer follow the one above.
        "broker_write_url": redis_url,
        "broker_read_url": redis_url,
        # A class of our own may precede the address: `module:Class+redis://…`.
        "result_backend": f"{app.conf.result_backend.rpartition('redis://')[0]}{redis_url}",
        "broker_transport_options": {
            **app.conf.broker_transport_options,
            "global_keyprefix": KEY_PREFIX,
        },
        "result_backend_transport_options": {
            **app.conf.result_backend_transport_options,
            "global_keyprefix": KEY_PREFIX,
        },
    }
    before = {name: getattr(app.conf, name) for name in changed}
    reconfigure(app, changed)
    try:
        yield
    finally:
        reconfigure(app, before)


def _somebody_is_elected() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            "AND (classid::bigint << 32) | objid::bigint = %s",
            [AdvisoryLock.BEAT_ELECTION],
        )
        row = cursor.fetchone()
    return bool(row and row[0])
