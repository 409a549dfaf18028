"""PostgreSQL 18 as a child process, with data that is created once and kept between starts.

The server listens only on 127.0.0.1, because a socket file's path could exceed the limit of 107
bytes. It requires the password from every client (SCRAM). fsync is on, so that no data is lost,
unless the caller accepts a loss (tests).
"""

import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from valkyr_project.embedded.account import ServerError, server_account
from valkyr_project.embedded.child import free_port, plain_environment, spawn, stop
from valkyr_project.embedded.folders import open_place, postgres_bin, write_private
from valkyr_project.embedded.leftovers import is_running, stop_leftovers

USER = "valkyr"
# SIGINT: fast shutdown, no recovery needed; SIGQUIT: immediate, recovery at the next start.
STOP_STEPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))
# Maximum seconds for a start, which a crash recovery or a previous server that is still ending may
# delay.
START_SECONDS = 120.0
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",  # our statements are short; compiling them costs more than it saves
    "wal_level": "minimal",  # a single server: only its own recovery reads the log
    "max_wal_senders": "0",
    "max_wal_size": "2GB",
}
# In postmaster.pid (utils/pidfile.h of PostgreSQL): the number of the status line, counted from 0,
# and its values if the server answers.
STATUS_LINE = 7
ANSWERING = frozenset({"ready", "standby"})
WORTHLESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres:
    """One embedded server, whose data is under `<home>/postgres`."""

    def __init__(
        self,
        home: Path,
        *,
        durable: bool = True,
        database: str = "valkyr",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Lock the folder without starting the server.

        `settings` override the default ones, such as `wal_level` for a server with replicas. Raises
        ServerError if another process holds the folder's lock.
        """
        self._account = server_account()
        self._bin = postgres_bin(self._account)
        self._place = open_place(home, "postgres", self._account)
        self._durable = durable
        self._settings = settings or {}
        self._database = database
        self._port = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._launched_at = 0.0

    @property
    def url(self) -> str:
        """Return the URL for clients, with the user and the password."""
        return self._url(self._database)

    @property
    def pid(self) -> int:
        """Return the process ID of the server, or 0 before it starts."""
        return self._child.pid if self._child else 0

    def launch(self) -> None:
        """Start the server's process without waiting for it; first stop a leftover server."""
        if not (self._place.data / "PG_VERSION").exists():
            self._place.fill_data(self._initialise)
        data = str(self._place.data)
        stop_leftovers("postgres", data, self._account, STOP_STEPS)
        self._drop_foreign_pid_file()
        self._port = free_port(self._place.remembered_port())
        settings = SETTINGS | ({} if self._durable else WORTHLESS) | dict(self._settings)
        settings["port"] = str(self._port)
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        self._launched_at = time.monotonic()
        with self._place.open_log() as log:
            self._child = spawn(
                [str(self._bin / "postgres"), "-D", data, *options],
                folder=self._place.data,
                log=log,
                death_signal=signal.SIGINT,
                account_arguments=self._account.popen_arguments(),
            )

    def wait(self) -> None:
        """Wait until the server accepts connections. Raises ServerError if it does not."""
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._child is None or self._child.poll() is not None:
                self._launch_again(deadline)
            if time.monotonic() > deadline:
                raise ServerError(f"PostgreSQL did not answer within {START_SECONDS:.0f} s.")
            time.sleep(0.02)
        self._place.remember_port(self._port)

    def start(self) -> str:
        """Start the server, wait until it accepts connections, and return its URL."""
        self.launch()
        self.wait()
        return self.url

    def alive(self) -> bool:
        """Return whether the server's process is running."""
        return self._child is not None and self._child.poll() is None

    def uptime(self) -> float:
        """Return the seconds since the server was last launched."""
        return time.monotonic() - self._launched_at

    def last_lines(self) -> str:
        """Return the end of the server's log."""
        return self._place.last_lines()

    def stop(self) -> None:
        """Stop the server (fast shutdown) and release the folder."""
        if self._child is not None:
            stop(self._child, STOP_STEPS)
        self._place.unlock()

    def _url(self, database: str) -> str:
        password = self._place.password()
        return f"postgres://{USER}:{password}@127.0.0.1:{self._port}/{database}"

    def _initialise(self, data: Path) -> None:
        word = self._place.root / "initial-password"
        write_private(word, self._place.password())
        self._account.own(word)
        command = [
            str(self._bin / "initdb"),
            f"--pgdata={data}",
            f"--username={USER}",
            f"--pwfile={word}",
            "--auth=scram-sha-256",
            # The password has 256 random bits, so stretching it would only slow down each
            # connection.
            "--set=scram_iterations=1",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            *([] if self._durable else ["--no-sync"]),
        ]
        self._make(command, data)
        word.unlink()
        single = [str(self._bin / "postgres"), "--single", "-D", str(data), "postgres"]
        self._make(single, data, f'CREATE DATABASE "{self._database}"\n')

    def _make(self, command: list[str], data: Path, says: str = "") -> None:
        """Run a program that creates the data. Raises ServerError, with its output, if it fails."""
        done = subprocess.run(  # noqa: S603 - our own command
            command,
            cwd=data,
            env=plain_environment(data),
            input=says,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **self._account.popen_arguments(),
        )
        if done.returncode != 0 or "ERROR:" in done.stdout:
            name = Path(command[0]).name
            said = done.stdout[-2000:]
            raise ServerError(f"{name} could not create a database in {data}:\n{said}")

    def _drop_foreign_pid_file(self) -> None:
        """Remove a postmaster.pid that does not name a running PostgreSQL.

        If the process ID in the file belongs to another program, PostgreSQL would take that program
        for its own postmaster and refuse to start.
        """
        file = self._place.data / "postmaster.pid"
        try:
            pid = int(file.read_text().splitlines()[0])
        except (OSError, ValueError, IndexError):
            file.unlink(missing_ok=True)
            return
        if not is_running(pid, "postgres"):
            file.unlink(missing_ok=True)

    def _answers(self) -> bool:
        """Return whether the server accepts connections.

        The check reads the server's pid file, as `pg_ctl` does. It loads no client, which would add
        15 MiB to the supervisor.
        """
        try:
            lines = (self._place.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        ours = lines[:1] == [str(self.pid)]  # not the lines of a previous server
        return ours and len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() in ANSWERING

    def _launch_again(self, deadline: float) -> None:
        """Start the server again if its port or data is still in use.

        Raises ServerError after the deadline, or for another failure.
        """
        lines = self._place.last_lines()
        passing = ("Address already in use", "still in use", "already exists")
        if time.monotonic() > deadline or not any(words in lines for words in passing):
            raise ServerError(f"PostgreSQL did not start. Its last lines:\n{lines}")
        time.sleep(0.2)
        self.launch()
