"""Whether each process really does its work: asked, not assumed from its being alive."""

import base64
import urllib.error
import urllib.request
from collections.abc import Callable

import psycopg
from celery.utils.nodenames import gethostname, nodename
from kombu.exceptions import KombuError

from valkyr_project.celery import app
from valkyr_project.up.credentials import StackCredentials
from valkyr_project.up.options import Options

Probe = Callable[[], bool]
FAILS = 500


def probes(options: Options, credentials: StackCredentials, database_url: str) -> dict[str, Probe]:
    """A question for every process, by name; each answers within about a second."""
    sign_in = f"{credentials.username}:{credentials.flower_password}"
    return {
        "web": lambda: answers(f"{options.web_url}/actuator/health/ready"),
        "worker-control": lambda: worker_answers("control"),
        "worker-default": lambda: worker_answers("default"),
        "worker-io": lambda: worker_answers("io"),
        "beat": lambda: beat_reads_its_schedule(database_url),
        "flower": lambda: answers(f"{options.flower_url}/", sign_in),
    }


def answers(url: str, sign_in: str = "") -> bool:
    """Whether a GET ends in something better than a server error."""
    request = urllib.request.Request(url)  # noqa: S310 - our own address
    if sign_in:
        request.add_header("Authorization", "Basic " + base64.b64encode(sign_in.encode()).decode())
    # A proxy set for the outside world has no business here.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=2) as answer:
            return int(answer.status) < FAILS
    except urllib.error.HTTPError as error:
        return error.code < FAILS and error.code != 401
    except OSError:
        return False


def worker_answers(queue: str) -> bool:
    """Whether this machine's worker of the queue replies to a ping through the broker."""
    try:
        return bool(app.control.ping(destination=[nodename(queue, gethostname())], timeout=0.5))
    except (OSError, KombuError):
        return False


def beat_reads_its_schedule(database_url: str) -> bool:
    """Whether a session of a beat process is open in the database."""
    query = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'valkyr-beat' LIMIT 1"
    try:
        with psycopg.connect(database_url, connect_timeout=2) as connection:
            return connection.execute(query).fetchone() is not None
    except psycopg.Error:
        return False
