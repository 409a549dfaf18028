"""A primary Redis, its replica and three Sentinels for tests, on 127.0.0.1; tests can kill them.

The program is that of the embedded server, which can also run as a Sentinel.
"""

import os
import secrets
import signal
import subprocess
from pathlib import Path

import redis
from redis.sentinel import MasterNotFoundError, Sentinel

from tests.support.waiting import wait_until
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.child import free_port, spawn, stop
from valkyr_project.embedded.folders import valkey_server

NAME = "valkyr"
HOST = "127.0.0.1"
STOP_STEPS = ((signal.SIGTERM, 10.0),)
UNNOTICED_MS = 3_000  # a server that is silent for this long is down (Redis's default: 30,000)
SERVER = """\
bind 127.0.0.1
port {port}
dir "{folder}"
requirepass {password}
masterauth {password}
maxmemory-policy noeviction
appendonly yes
appendfsync everysec
save ""
daemonize no
"""
WATCHER = """\
bind 127.0.0.1
port {port}
dir "{folder}"
requirepass {own}
sentinel sentinel-pass {own}
sentinel monitor {name} 127.0.0.1 {primary} 2
sentinel auth-pass {name} {password}
sentinel down-after-milliseconds {name} {unnoticed}
sentinel failover-timeout {name} 10000
"""


class RedisNode:
    """One server or Sentinel, with its folder; it rewrites its configuration."""

    def __init__(self, home: Path, name: str) -> None:
        self._account = server_account()
        self._program = valkey_server(self._account)
        self._folder = home / name
        self._folder.mkdir()
        self._account.own(self._folder)
        self._child: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    def configure(self, text: str, **values: object) -> None:
        """Write the node's first configuration."""
        file = self._folder / "redis.conf"
        file.write_text(text.format(port=self.port, folder=self._folder, **values))
        self._account.own(file)

    def launch(self, *words: str) -> None:
        """Start the node. Does not wait."""
        with (self._folder / "log").open("ab") as log:
            self._child = spawn(
                [str(self._program), str(self._folder / "redis.conf"), *words],
                folder=self._folder,
                log=log,
                death_signal=signal.SIGTERM,
                account_arguments=self._account.popen_arguments(),
            )

    def kill(self) -> None:
        """Kill the node with SIGKILL."""
        assert self._child is not None
        os.kill(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def alive(self) -> bool:
        """Return whether the node's process runs."""
        return self._child is not None and self._child.poll() is None

    def stop(self) -> None:
        """Stop the node."""
        if self._child is not None:
            stop(self._child, STOP_STEPS)


class Sentinels:
    """The five processes, and which of the servers is the primary."""

    def __init__(self, home: Path) -> None:
        self.password, self.own_password = secrets.token_hex(16), secrets.token_hex(16)
        self.servers = [RedisNode(home, f"redis-{number}") for number in (1, 2)]
        self.watchers = [RedisNode(home, f"sentinel-{number}") for number in (1, 2, 3)]

    @property
    def url(self) -> str:
        """The value of Celery's broker setting."""
        each = [f"sentinel://:{self.password}@{HOST}:{one.port}/0" for one in self.watchers]
        return ";".join(each)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables that the stand-alone platform's settings read."""
        return {
            "REDIS_URL": self.url,
            "VALKYR_SENTINEL_MASTER": NAME,
            "VALKYR_SENTINEL_PASSWORD": self.own_password,
        }

    def start(self) -> None:
        """Start all nodes; return when the Sentinels know the replica and each other."""
        first, second = self.servers
        for one in self.servers:
            one.configure(SERVER, password=self.password)
            one.launch(*(("--replicaof", f"{HOST} {first.port}") if one is second else ()))
        for one in self.servers:
            wait_until(lambda one=one: self._answers(one), 30, "a Redis of the Sentinels")
        for one in self.watchers:
            one.configure(
                WATCHER,
                own=self.own_password,
                name=NAME,
                primary=first.port,
                password=self.password,
                unnoticed=UNNOTICED_MS,
            )
            one.launch("--sentinel")
        self.wait_whole()

    def primary(self) -> RedisNode | None:
        """Return the server that the Sentinels name now; None while they name none."""
        asked = Sentinel(
            [(HOST, one.port) for one in self.watchers],
            sentinel_kwargs={"password": self.own_password, "socket_timeout": 2},
        )
        try:
            _, port = asked.discover_master(NAME)
        except MasterNotFoundError:
            return None
        return next(one for one in self.servers if one.port == port)

    def replica(self) -> RedisNode:
        """Return the server that is not the primary."""
        return next(one for one in self.servers if one is not self.primary())

    def wait_whole(self) -> None:
        """Return when each Sentinel knows a connected replica and both other Sentinels."""
        wait_until(self._whole, 60, "a replica, and Sentinels that know each other")

    def stop(self) -> None:
        """Stop all nodes."""
        for one in (*self.watchers, *self.servers):
            one.stop()

    def _whole(self) -> bool:
        return all(self._knows_all(one) for one in self.watchers) and self._follows()

    def _knows_all(self, watcher: RedisNode) -> bool:
        with redis.Redis(port=watcher.port, password=self.own_password) as link:
            try:
                found = link.sentinel_masters()[NAME]
            except (redis.RedisError, KeyError):
                return False
        return (
            found["num-other-sentinels"] == 2
            and found["num-slaves"] >= 1
            and not (found["is_sdown"] or found["is_odown"])
        )

    def _follows(self) -> bool:
        primary = self.primary()
        if primary is None:
            return False
        with redis.Redis(port=primary.port, password=self.password) as link:
            told = link.info("replication")
        return bool(told["connected_slaves"] and told["slave0"]["state"] == "online")

    def _answers(self, one: RedisNode) -> bool:
        assert one.alive(), "a Redis of the Sentinels ended"
        with redis.Redis(port=one.port, password=self.password) as link:
            try:
                return bool(link.ping())
            except redis.RedisError:
                return False
