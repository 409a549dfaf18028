"""Separate servers for one run: durable as in production, in a temporary folder.

Django is set up for them, in this process and (by the environment) in the processes that it starts.
"""

import base64
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.chaos.brokers import Broker, RedisBroker
from tests.chaos.servers.rabbit import ClusterBroker, RabbitBroker
from tests.chaos.servers.sentinels import SentinelBroker
from tests.support.replication import FOLLOWED, Standby
from valkyr_project.embedded import Postgres, Redis

# The workers' side of the key prefix is tests/support/fleet.py's.
KEY_PREFIX = "valkyr-fleet:"


class Stage:
    """PostgreSQL, Redis and, if another broker is requested, that broker.

    `environment` has the variables that processes get in addition to the addresses.
    """

    def __init__(
        self,
        broker: str = "redis",
        home: Path | None = None,
        *,
        followed: bool = False,
        partitions: bool = False,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="valkyr-chaos-"))
        self.folder.chmod(0o711)  # the servers' account passes through
        home = home or self.folder
        self.postgres = Postgres(home, durable=True, settings=FOLLOWED if followed else None)
        self.standby: Standby | None = None
        self._followed = followed
        self._partitions = partitions
        self.redis = Redis(home, durable=True)
        self._home = home
        self._kind = broker
        self.broker: Broker = RedisBroker(self.redis, home)
        self.redis_url = ""
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _start(self) -> None:
        for server in (self.postgres, self.redis):
            server.launch()
        for server in (self.postgres, self.redis):
            server.wait()
        self.redis_url = self.redis.url
        if self._kind != "redis":
            self._start_broker()
        addresses = {
            "DATABASE_URL": self._database(),
            "REDIS_URL": self.redis_url,
            "CELERY_BROKER_URL": self.broker.url,
        }
        configure(addresses | self.environment, self.folder)
        from django.core.management import call_command

        call_command("migrate", interactive=False, verbosity=0)
        if self._partitions:
            call_command("partitions", "on")
        call_command("ensure_admin", stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115

    def _start_broker(self) -> None:
        if self._kind == "sentinels":
            made = SentinelBroker(self.folder)
            self.broker, self.environment, self.redis_url = made, made.environment, made.url
        else:
            self.broker = (
                RabbitBroker(self.folder)
                if self._kind == "rabbitmq"
                else ClusterBroker(self.folder)
            )
        self.broker.start()

    def _database(self) -> str:
        """Return the database's address for clients; create a standby if one is needed."""
        if not self._followed:
            return self.postgres.url
        self.standby = Standby(self._home, self.postgres.url, durable=True)
        self.standby.start()
        self.standby.is_waited_for_by(self.postgres.url)
        address, _, name = self.postgres.url.rpartition("/")
        second = self.standby.url.rpartition("@")[2]
        return f"{address},{second.rpartition('/')[0]}/{name}?target_session_attrs=read-write"

    def _stop(self) -> None:
        if not isinstance(self.broker, RedisBroker):
            self.broker.stop()
        self.redis.stop()
        if self.standby is not None:
            self.standby.close()
        self.postgres.stop()
        for home in {self.folder, self._home}:
            _remove(home)


def configure(addresses: dict[str, str], folder: Path) -> None:
    """Set the whole environment of this process and its children, and set up Django in it.

    The caller's variables must not leak in.
    """
    for name in list(os.environ):
        if name.startswith(("CELERY_", "VALKYR_", "RUNNER_")):
            del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        **addresses,
        "VALKYR_HOME": str(folder),
        "VALKYR_STATIC_ROOT": str(folder / "static"),
        "VALKYR_SECRET_KEY": "chaos-" + "0123456789abcdef" * 4,
        "VALKYR_KEY": base64.b64encode(b"k" * 32).decode(),
        "VALKYR_KEY_PREFIX": KEY_PREFIX,
        "VALKYR_REMOTE_QUEUES": "remote,gpu",
        "VALKYR_EXTRA_MODULES": "tests.support.modules,tests.support.row_steps,"
        "tests.support.knocking_step",
        "VALKYR_ADMIN_USERNAME": "chaos",
        "VALKYR_ADMIN_PASSWORD": "chaos-" + "p" * 20,
    }
    import django

    django.setup()


def configure_alone() -> None:
    """Set up Django without any server, to read the table of faults."""
    nobody = {
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    configure(nobody, Path(tempfile.gettempdir()))


def _remove(home: Path) -> None:
    for place in home.iterdir():
        if place.is_symlink():
            shutil.rmtree(place.resolve(), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
