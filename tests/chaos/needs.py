"""A fault's requirements on the machine.

Missing requirements are named with the command that installs them.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support import far_network

FAKETIME = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
)


def faketime_library() -> str | None:
    """Return the path of libfaketime; None if it is missing."""
    return next((path for path in FAKETIME if Path(path).exists()), None)


def _faketime(broker: str) -> str | None:
    return None if faketime_library() else "libfaketime is not there: apt-get install faketime"


def _tmpfs(broker: str) -> str | None:
    if os.geteuid() == 0 and shutil.which("mount"):
        return None
    return "mounting a small tmpfs takes root: run as root, e.g. in a container with CAP_SYS_ADMIN"


def _rabbitmq(broker: str) -> str | None:
    if shutil.which("rabbitmq-server") or Path("/usr/lib/rabbitmq/bin/rabbitmq-server").exists():
        return None
    return "rabbitmq-server is not there: apt-get install rabbitmq-server"


def _redis_broker(broker: str) -> str | None:
    return None if broker == "redis" else "it is a fault of Redis as the broker: --broker redis"


def _pgbouncer(broker: str) -> str | None:
    return None if shutil.which("pgbouncer") else "it is not there: apt-get install pgbouncer"


def _far_network(broker: str) -> str | None:
    return far_network.missing()


NEEDS: dict[str, Callable[[str], str | None]] = {
    "faketime": _faketime,
    "tmpfs": _tmpfs,
    "rabbitmq": _rabbitmq,
    "redis-broker": _redis_broker,
    "pgbouncer": _pgbouncer,
    "far-network": _far_network,
}


def missing(needs: tuple[str, ...], broker: str = "redis") -> str | None:
    """Return why a fault cannot run here; None if it can."""
    for name in needs:
        if reason := NEEDS[name](broker):
            return f"needs {name}: {reason}"
    return None
