"""Probe each process of a stack until it is ready, then print the name of the process.

This module runs as a separate process of the image. It connects to PostgreSQL and the broker, so
the supervisor need not load the code for them.
"""

import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable

import psycopg
from celery.utils.nodenames import gethostname, nodename
from kombu.exceptions import KombuError

from valkyr_project.celery import app

PAUSE = 0.1
FAILS = 500


def main() -> None:
    """Probe each process until it is ready. A single probe takes at most about 2 s.

    The command line gives the URLs of web and Flower.
    """
    web_url, flower_url = sys.argv[1:]
    database_url = os.environ["DATABASE_URL"]
    probes: dict[str, Callable[[], bool]] = {
        "web": lambda: answers(f"{web_url}/actuator/health/ready"),
        "worker-control": lambda: worker_answers("control"),
        "worker-default": lambda: worker_answers("default"),
        "worker-io": lambda: worker_answers("io"),
        "beat": lambda: beat_reads_its_schedule(database_url),
        # Not a page, because viewing one makes the workers report to Flower.
        "flower": lambda: answers(f"{flower_url}/healthcheck"),
    }
    for name, probe in probes.items():
        threading.Thread(target=_ask, args=(name, probe)).start()


def _ask(name: str, probe: Callable[[], bool]) -> None:
    while not probe():
        time.sleep(PAUSE)
    print(f"{name}\n", end="", flush=True)


def answers(url: str) -> bool:
    """Return whether a GET request to `url` gets a response that is not a server error."""
    request = urllib.request.Request(url)  # noqa: S310 - our own address
    # Without proxies, which are only for connections to other machines.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=2) as answer:
            return int(answer.status) < FAILS
    except urllib.error.HTTPError as error:
        return error.code < FAILS
    except OSError:
        return False


def worker_answers(queue: str) -> bool:
    """Return whether this machine's worker of the queue replies to a ping through the broker."""
    try:
        return bool(app.control.ping(destination=[nodename(queue, gethostname())], timeout=0.5))
    except (OSError, KombuError):
        return False


def beat_reads_its_schedule(database_url: str) -> bool:
    """Return whether a beat process has a session in the database."""
    query = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'valkyr-beat' LIMIT 1"
    try:
        with psycopg.connect(database_url, connect_timeout=2) as connection:
            return connection.execute(query).fetchone() is not None
    except psycopg.Error:
        return False
