"""Real PostgreSQL servers in addition to the tests' own: a primary, and a standby that follows
it.
"""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support.waiting import wait_until
from valkyr_project.embedded import Postgres
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.child import free_port, plain_environment, spawn, stop
from valkyr_project.embedded.folders import open_place, postgres_bin
from valkyr_project.embedded.postgres import SETTINGS

# The settings with which a server can be followed, or backed up while it runs.
FOLLOWED = {"wal_level": "replica", "max_wal_senders": "4"}
STOP_STEPS = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0))


@contextmanager
def primary(home: Path) -> Iterator[Postgres]:
    """Run a server with an empty database, which others can follow."""
    server = Postgres(home, durable=False, settings=FOLLOWED)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def copy_database(source: str, target: str) -> None:
    """Copy the tables and rows of one database to another, empty one with `pg_dump` and `psql`."""
    folder = postgres_bin(server_account())
    dump = subprocess.run(
        [str(folder / "pg_dump"), "--no-owner", source], capture_output=True, check=True
    )
    subprocess.run(
        [str(folder / "psql"), "--quiet", "--set=ON_ERROR_STOP=1", target],
        input=dump.stdout,
        stdout=subprocess.DEVNULL,
        check=True,
    )


class Standby:
    """A server that follows another one and was created by `pg_basebackup`."""

    def __init__(self, home: Path, followed: str, *, durable: bool = False) -> None:
        """Copy the server at the URL `followed`; do not start the copy yet."""
        self._durable = durable
        self._account = server_account()
        self._bin = postgres_bin(self._account)
        self._place = open_place(home, "standby", self._account)
        self._port = free_port()
        self._child: subprocess.Popen[bytes] | None = None
        self.url = f"{followed.rpartition(':')[0]}:{self._port}/{followed.rpartition('/')[2]}"
        self._place.fill_data(lambda data: self._copy(followed, data))

    def start(self) -> None:
        """Start the standby; return when it answers and follows."""
        # A standby must have at least as much room as its primary.
        settings = SETTINGS | FOLLOWED | {"port": str(self._port)}
        settings["fsync"] = "on" if self._durable else "off"
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with self._place.open_log() as log:
            self._child = spawn(
                [str(self._bin / "postgres"), "-D", str(self._place.data), *words],
                folder=self._place.data,
                log=log,
                death_signal=signal.SIGQUIT,
                account_arguments=self._account.popen_arguments(),
            )
        wait_until(self._answers, 60, "the standby's first answer")

    def is_waited_for_by(self, followed: str) -> None:
        """Make the followed server confirm a commit only when this one has it on disk too."""
        with psycopg.connect(followed, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            query = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
            wait_until(
                lambda: connection.execute(query).fetchone() is not None,
                20,
                "the standby to be waited for",
            )

    def pause(self) -> None:
        """Stop replaying changes, so that the standby falls behind."""
        self._ask("SELECT pg_wal_replay_pause()")
        wait_until(
            lambda: self._ask("SELECT pg_get_wal_replay_pause_state()") == "paused",
            20,
            "the end of its replay",
        )

    def resume(self) -> None:
        """Continue to replay changes."""
        self._ask("SELECT pg_wal_replay_resume()")

    def is_not_waited_for_by(self, followed: str) -> None:
        """Make the followed server confirm commits that this one does not have."""
        with psycopg.connect(followed, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            connection.execute("SELECT pg_reload_conf()")

    def fall_behind(self) -> None:
        """Stop receiving changes, as if the connection to the primary were cut."""
        self._ask("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'")
        self._ask("SELECT pg_reload_conf()")
        wait_until(
            lambda: self._ask("SELECT count(*) FROM pg_stat_wal_receiver") == 0,
            20,
            "the end of the standby's receiver",
        )

    def promote(self) -> None:
        """Stop following, and accept writes; return when it does."""
        assert self._ask("SELECT pg_promote(true, 60)") is True, self._place.last_lines()

    def stop(self) -> None:
        """End the standby at once."""
        if self._child is not None:
            stop(self._child, STOP_STEPS)

    def close(self) -> None:
        """End the standby and unlock its folder."""
        self.stop()
        self._place.unlock()

    def _copy(self, followed: str, data: Path) -> None:
        subprocess.run(
            [
                *(str(self._bin / "pg_basebackup"), "--dbname", followed, "--pgdata", str(data)),
                *("--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"),
                "--no-sync",
            ],
            cwd=data,
            env=plain_environment(data),
            check=True,
            **self._account.popen_arguments(),
        )

    def _answers(self) -> bool:
        assert self._child is not None
        assert self._child.poll() is None, self._place.last_lines()
        try:
            return self._ask("SELECT pg_is_in_recovery()") is True
        except psycopg.OperationalError:
            return False

    def _ask(self, query: str) -> object:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            found = connection.execute(query)  # type: ignore[arg-type]
            row = found.fetchone() if found.description else None
        return row[0] if row else None
