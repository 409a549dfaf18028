"""A PgBouncer for the tests' PostgreSQL: on 127.0.0.1, in transaction mode."""

import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.support.waiting import wait_until
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.child import free_port, plain_environment, start_child, stop

MISSING = "PgBouncer is not here: apt-get install --no-install-recommends pgbouncer"
STOP_STEPS = ((signal.SIGINT, 5.0),)
CONFIGURATION = """\
[databases]
* = host={host} port={server_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
"""


def missing() -> str:
    """Return why no pooler can be started here; "" if one can."""
    return "" if shutil.which("pgbouncer") else MISSING


class PgBouncer:
    """A pooler with its files under `<home>/pgbouncer`; its account must be able to enter
    `home`.
    """

    def __init__(self, home: Path, database_url: str, *, size: int) -> None:
        """Configure the pooler; `size` is the maximum number of connections to PostgreSQL."""
        parts = urlsplit(database_url)
        port = free_port()
        self.url = urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{port}"))
        self._account = server_account()
        self._folder = home / "pgbouncer"
        self._folder.mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        (self._folder / "users").write_text(f'"{parts.username}" "{parts.password}"\n')
        (self._folder / "configuration").write_text(
            CONFIGURATION.format(
                host=parts.hostname,
                server_port=parts.port,
                port=port,
                folder=self._folder,
                size=size,
            )
        )
        for path in (self._folder, *self._folder.iterdir()):
            self._account.own(path)

    def start(self) -> None:
        """Start the pooler and return when it accepts a connection."""
        with (self._folder / "log").open("wb") as log:
            self._process = start_child(
                [shutil.which("pgbouncer") or "pgbouncer", str(self._folder / "configuration")],
                env=plain_environment(self._folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                death_signal=signal.SIGKILL,
                **self._account.popen_arguments(),
            )
        wait_until(self._answers, 20, "PgBouncer's first answer")

    def stop(self) -> None:
        """End the pooler."""
        if self._process is not None:
            stop(self._process, STOP_STEPS)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()
        try:
            with psycopg.connect(self.url, connect_timeout=2) as session:
                return session.execute("SELECT 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False
