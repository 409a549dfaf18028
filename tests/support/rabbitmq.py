"""A RabbitMQ for tests, one node or three, on 127.0.0.1, with its own folders, ports and epmd.

Debian's service is not used. Erlang's port mapper (epmd) is a child too: one that Erlang starts
itself would outlive all tests.
"""

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import current_app
from kombu import Connection

from tests.support.reconfigured import reconfigure
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.child import free_port, plain_environment, start_child, stop

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
MISSING = "RabbitMQ is not here: apt-get install --no-install-recommends rabbitmq-server"
START_SECONDS = 300.0
STOP_STEPS = ((signal.SIGTERM, 15.0),)
CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
default_user = valkyr
default_pass = {password}
# Ours to kill at any moment: a single node must not wait for its peers, of which there are none.
cluster_formation.peer_discovery_backend = classic_config
cluster_partition_handling = {partition}
disk_free_limit.absolute = 20MB
vm_memory_high_watermark.absolute = 512MB
log.console = true
log.console.level = warning
log.file = false
"""


def missing() -> str:
    """Return why no node can be started here; "" if one can."""
    return "" if PROGRAM.exists() and shutil.which("epmd") else MISSING


class RabbitMQ:
    """One node with its data under `<home>/<name>`; its account must be able to enter `home`.

    `among` is the first node of a cluster; all nodes share its port mapper and secrets.
    """

    def __init__(
        self, home: Path, name: str = "rabbitmq", *, among: "RabbitMQ | None" = None
    ) -> None:
        self._account = server_account()
        self._home = home / name
        self._password = among._password if among else secrets.token_hex(16)
        self._cookie = among._cookie if among else secrets.token_hex(16)
        self._mapper_port = among._mapper_port if among else free_port()
        self._port, self._node_port = (free_port() for _ in range(2))
        self._node: subprocess.Popen[bytes] | None = None
        self._mapper: subprocess.Popen[bytes] | None = None
        self._among = among
        self._home.mkdir()
        for folder in (self._home, self._home / "data"):
            folder.mkdir(exist_ok=True)
            self._account.own(folder)
        self.cluster_with(())

    @property
    def name(self) -> str:
        """The node's name in Erlang."""
        return f"valkyr-{self._port}@localhost"

    def cluster_with(self, nodes: "Sequence[RabbitMQ]", partition: str = "ignore") -> None:
        """Write the node's configuration: at its first start it joins these nodes, including
        itself.
        """
        text = CONFIGURATION.format(port=self._port, password=self._password, partition=partition)
        for number, node in enumerate(nodes, 1):
            text += f"cluster_formation.classic_config.nodes.{number} = {node.name}\n"
        (self._home / "rabbitmq.conf").write_text(text)
        cookie = self._home / ".erlang.cookie"
        cookie.unlink(missing_ok=True)
        cookie.write_text(self._cookie)
        cookie.chmod(0o400)
        self._account.own(cookie)

    @property
    def url(self) -> str:
        """The address for clients, with user and password."""
        return f"amqp://valkyr:{self._password}@127.0.0.1:{self._port}//"

    @property
    def pid(self) -> int:
        """The id of the node's process; 0 before the start."""
        return self._node.pid if self._node else 0

    def launch(self) -> None:
        """Start the node without waiting for it."""
        if self._mapper is None and self._among is None:
            self._mapper = self._spawn(["epmd", "-address", "127.0.0.1"])
        self._node = self._spawn([str(PROGRAM)])

    def wait(self) -> None:
        """Return when the node accepts connections. Raise AssertionError with its last output
        otherwise.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self.alive(), f"RabbitMQ ended:\n{self.last_lines()}"
            assert time.monotonic() < deadline, f"RabbitMQ is not ready:\n{self.last_lines()}"
            time.sleep(0.1)

    def start(self) -> str:
        """Launch the node, wait until it is ready, and return the URL."""
        self.launch()
        self.wait()
        return self.url

    def alive(self) -> bool:
        """Return whether the node's process runs."""
        return self._node is not None and self._node.poll() is None

    def kill(self) -> None:
        """Kill the node with SIGKILL; confirmed messages are on its disk."""
        assert self._node is not None
        os.killpg(self._node.pid, signal.SIGKILL)
        self._node.wait()

    def forget(self) -> None:
        """Remove all queues and messages of a node that was killed."""
        assert not self.alive(), "it still runs"
        shutil.rmtree(self._home / "data")
        (self._home / "data").mkdir()
        self._account.own(self._home / "data")

    def stop(self) -> None:
        """Stop the node and the port mapper."""
        for child in (self._node, self._mapper):
            if child is not None:
                stop(child, STOP_STEPS)
        self._node = self._mapper = None

    def last_lines(self) -> str:
        """Return the last lines of the node's log."""
        return (self._home / "log").read_text(errors="replace")[-3000:]

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._home / "log").open("ab") as log:
            return start_child(
                command,
                cwd=self._home,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                death_signal=signal.SIGKILL,
                **self._account.popen_arguments(),
            )

    def _environment(self) -> dict[str, str]:
        data = str(self._home / "data")
        return plain_environment(self._home) | {
            "LC_ALL": "C.UTF-8",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": str(self._home / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": "/dev/null",
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "RABBITMQ_MNESIA_BASE": data,
            "RABBITMQ_LOG_BASE": str(self._home),
            # The shell is replaced by Erlang: the child is the node itself.
            "RABBITMQ_ALLOW_INPUT": "1",
            "RABBITMQ_SERVER_START_ARGS": "-noinput",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._mapper_port),
        }

    def _answers(self) -> bool:
        try:
            with Connection(self.url, connect_timeout=2) as link:
                link.connect()
        except Exception:  # refused, closed while it starts, or not yet able to sign in
            return False
        return True


class RabbitCluster:
    """Three nodes of one cluster; clients get the addresses of all three."""

    def __init__(self, home: Path, partition: str = "ignore") -> None:
        first = RabbitMQ(home, "rabbitmq-1")
        others = (RabbitMQ(home, f"rabbitmq-{number}", among=first) for number in (2, 3))
        self.nodes = (first, *others)
        for node in self.nodes:
            node.cluster_with(self.nodes, partition)

    @property
    def url(self) -> str:
        """The value of Celery's broker setting."""
        return ";".join(node.url for node in self.nodes)

    def start(self) -> str:
        """Start all nodes, wait until each accepts connections, and return the URL."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait()
        return self.url

    def stop(self) -> None:
        """Stop all nodes; stop the first one last, with the port mapper."""
        for node in reversed(self.nodes):
            node.stop()


@contextmanager
def publishing_to(url: str) -> Iterator[None]:
    """Send this process's messages to that node, with the settings for RabbitMQ."""
    app = current_app._get_current_object()
    changed: dict[str, Any] = {
        "broker_url": url,
        "broker_write_url": url,
        "broker_read_url": url,
        "broker_transport_options": {"confirm_publish": True},
        "task_default_queue_type": "quorum",
        "task_create_missing_queue_type": "quorum",
    }
    before = {name: getattr(app.conf, name) for name in changed}
    reconfigure(app, changed)
    app.__dict__.pop("amqp", None)  # it keeps the queues' declarations
    try:
        yield
    finally:
        reconfigure(app, before)
        app.__dict__.pop("amqp", None)
