"""Importing a module changes nothing outside it."""

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
import celery, executions, runners, dlq, valkyr, valkyr_plugins, valkyr_project
from celery import signals
from celery.worker.consumer import Consumer
from django.core import signals as django_signals
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
        "Celery apps": len(celery._state._get_active_apps()),
        "Celery's signals": {
            name: len(one.receivers or ())
            for name, one in vars(signals).items()
            if isinstance(one, signals.Signal)
        },
        "Django's signals": [
            len(one.receivers)
            for one in (django_signals.request_started, django_signals.request_finished)
        ],
        "a worker's steps": sorted(map(str, Consumer.Blueprint.default_steps)),
        "kombu's transport": (redis.Transport.Channel, redis.Transport.connection_errors),
        "kombu's channel": {n: id(v) for n, v in vars(redis.Channel).items()},
        "Prometheus values": values.ValueClass,
    }


before = state()
# What `python -m` runs may change its process; nobody imports it.
own = {
    "runners.isolation.server", "runners.stalls.watchdog", "runners.process.signs_of_life",
    "valkyr_project.asgi", "valkyr_project.celery", "valkyr_project.pytest_plugin",
}
for app in (executions, runners, dlq, valkyr_plugins, valkyr, valkyr_project):
    for module in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
        if module.name not in own and not module.name.endswith(".__main__"):
            import_module(module.name)
    for name, found in state().items():
        if found != before[name]:
            print(app.__name__, "changed", name, before[name], found)
print(len(sys.modules) > 1000)
"""


ALONE = """
import os, sys

before = dict(os.environ)
import valkyr

assert valkyr.APPS and valkyr.__version__
heavy = {"celery", "django", "kombu", "pydantic"}
print(dict(os.environ) == before, *sorted(heavy & set(sys.modules)))
"""


def test_the_public_names_load_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=PROJECT, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["True"]


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
