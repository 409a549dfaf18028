"""Importing a module of the engine or of a plugin changes nothing outside of it."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PROGRAM = """
import logging, os, pkgutil, signal, socket, sys, threading
from importlib import import_module
import django

django.setup()
import celery, executions, runners, dlq, valkyr, valkyr_plugins
from kombu.transport import redis
from prometheus_client import values


def state():
    return {
        "environment": dict(os.environ),
        "signal handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "excepthook": sys.excepthook,
        "threads": threading.active_count(),
        "log handlers": list(logging.root.handlers),
        "socket timeout": socket.getdefaulttimeout(),
        "Celery app": celery.current_app._get_current_object(),
        "kombu's transport": (redis.Transport.Channel, redis.Transport.connection_errors),
        "Prometheus values": values.ValueClass,
    }


before = state()
# What `python -m` runs may change its process; nobody imports it.
own = {"runners.isolation.server", "runners.stalls.watchdog", "runners.process.signs_of_life"}
for app in (executions, runners, dlq, valkyr_plugins, valkyr):
    for module in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
        if module.name not in own and not module.name.endswith(".__main__"):
            import_module(module.name)
    for name, found in state().items():
        if found != before[name]:
            print(app.__name__, "changed", name, before[name], found)
print(len(sys.modules) > 1000)
"""


def test_importing_changes_nothing_global() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.stdout.splitlines() == ["True"], done.stdout + done.stderr[-2000:]
