"""Redis as a child process on 127.0.0.1, with a password and, if durable, an append-only file.

The server is Valkey, which is compatible with Redis and available as a wheel.
"""

import signal
import socket
import subprocess
import time
from pathlib import Path

from valkyr_project.embedded.account import ServerError, server_account
from valkyr_project.embedded.child import free_port, spawn, stop
from valkyr_project.embedded.folders import open_place, valkey_server, write_private
from valkyr_project.embedded.leftovers import stop_leftovers

STOP_STEPS = ((signal.SIGTERM, 10.0),)
START_SECONDS = 60.0
ANSWER_SECONDS = 5.0
CONFIGURATION = """\
bind 127.0.0.1
port {port}
dir "{folder}"
requirepass {password}
# A queue that evicts or forgets messages is no queue.
maxmemory-policy noeviction
appendonly {append_only}
appendfsync everysec
save ""
daemonize no
# Keep the command line: a later start recognises a left-over server by it.
set-proc-title no
"""


class Redis:
    """One embedded server, whose data is under `<home>/redis`."""

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        """Lock the folder without starting the server.

        Raises ServerError if another process holds the folder's lock.
        """
        self._account = server_account()
        self._program = valkey_server(self._account)
        self._place = open_place(home, "redis", self._account)
        self._configuration = self._place.root / "redis.conf"
        self._durable = durable
        self._port = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._launched_at = 0.0

    @property
    def url(self) -> str:
        """Return the URL for clients, with the password and database 0."""
        return f"redis://:{self._place.password()}@127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        """Return the process ID of the server, or 0 before it starts."""
        return self._child.pid if self._child else 0

    def launch(self) -> None:
        """Start the server's process without waiting for it; first stop a leftover server."""
        stop_leftovers("valkey-server", str(self._configuration), self._account, STOP_STEPS)
        self._port = free_port(self._place.remembered_port())
        self._configure()
        self._launched_at = time.monotonic()
        with self._place.open_log() as log:
            self._child = spawn(
                [str(self._program), str(self._configuration)],
                folder=self._place.data,
                log=log,
                death_signal=signal.SIGTERM,
                account_arguments=self._account.popen_arguments(),
            )

    def wait(self) -> None:
        """Wait until the server has loaded its data and answers.

        Raises ServerError if it does not.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.alive():
                self._launch_again(deadline)
            if time.monotonic() > deadline:
                raise ServerError(f"Redis did not answer within {START_SECONDS:.0f} s.")
            time.sleep(0.02)
        self._place.remember_port(self._port)

    def start(self) -> str:
        """Start the server, wait until it answers, and return its URL."""
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
        """Stop the server, which (if durable) first saves its data, and release the folder."""
        if self._child is not None:
            stop(self._child, STOP_STEPS)
        self._place.unlock()

    def _configure(self) -> None:
        text = CONFIGURATION.format(
            port=self._port,
            folder=str(self._place.data).replace("\\", "\\\\").replace('"', '\\"'),
            password=self._place.password(),
            append_only="yes" if self._durable else "no",
        )
        write_private(self._configuration, text)
        self._account.own(self._configuration)

    def _answers(self) -> bool:
        """Return whether the server answers a PING.

        The PING is sent without a client library, which would add 15 MiB.
        """
        try:
            with socket.create_connection(("127.0.0.1", self._port), ANSWER_SECONDS) as link:
                link.sendall(f"AUTH {self._place.password()}\r\nPING\r\nQUIT\r\n".encode())
                with link.makefile("rb") as answers:
                    return answers.read().splitlines()[:2] == [b"+OK", b"+PONG"]
        except OSError:  # no connection; while Redis loads its file, it answers with an error
            return False

    def _launch_again(self, deadline: float) -> None:
        lines = self._place.last_lines()
        if time.monotonic() > deadline or "Address already in use" not in lines:
            raise ServerError(f"Redis did not start. Its last lines:\n{lines}")
        self.launch()
