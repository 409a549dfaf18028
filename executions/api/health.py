"""Is this process alive, and can it serve: for load balancers and people, without sign-in."""

import logging
from collections.abc import Callable
from typing import Any

import psycopg
from celery import current_app
from django.conf import settings
from django.db import connection
from kombu.exceptions import OperationalError
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.api.documentation import operation
from executions.api.tokens import OpenEndpoint

log = logging.getLogger(__name__)
STATUSES = [("UP", "UP"), ("DOWN", "DOWN")]
SECONDS = 2  # the least that libpq takes for a connect time-out


class Health(serializers.Serializer[Any]):
    """UP or DOWN, as a whole and by part."""

    status = serializers.ChoiceField(STATUSES)
    components = serializers.DictField(child=serializers.JSONField(), required=False)


def database() -> None:
    """Open a session of our own: a kept connection to a frozen server would wait for ever."""
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    parts = {name: given[name] for name in names if given.get(name)}
    psycopg.connect(**parts, connect_timeout=SECONDS).close()


def broker() -> None:
    """Open a connection to the broker."""
    options = {"socket_connect_timeout": SECONDS, "socket_timeout": SECONDS}
    if not settings.CELERY_BROKER_URL.startswith(("redis", "unix")):
        options = {}
    with current_app.connection_for_write(
        connect_timeout=SECONDS, transport_options=options
    ) as link:
        link.ensure_connection(max_retries=1, interval_start=0, timeout=SECONDS)


PARTS: dict[str, Callable[[], None]] = {"database": database, "broker": broker}


def state_of(check: Callable[[], None]) -> dict[str, str]:
    """UP, or DOWN with a reason that tells nothing of addresses."""
    try:
        check()
    except (OSError, psycopg.Error, OperationalError) as error:
        log.warning("%s is not ready: %s", check.__name__, error)
        return {"status": "DOWN", "reason": f"no answer ({type(error).__name__})"}
    return {"status": "UP"}


def readiness() -> Response:
    """All parts; 503 when one is DOWN."""
    parts = {name: state_of(check) for name, check in PARTS.items()}
    up = all(part["status"] == "UP" for part in parts.values())
    headers = {"Cache-Control": "no-store"}
    if not up:
        headers["Retry-After"] = "2"
    body = {"status": "UP" if up else "DOWN", "components": parts}
    return Response(body, 200 if up else 503, headers=headers)


class Ready(OpenEndpoint):
    """Whether it can serve."""

    @operation("getReadiness", "Health", {200: Health, 503: Health}, public=True)
    def get(self, request: Request) -> Response:
        """Whether the database and the broker answer; 503 says which does not."""
        return readiness()


class Overall(OpenEndpoint):
    """The same, under the shorter address."""

    @operation("getHealth", "Health", {200: Health, 503: Health}, public=True)
    def get(self, request: Request) -> Response:
        """Whether the database and the broker answer; 503 says which does not."""
        return readiness()


class Live(OpenEndpoint):
    """Whether it is alive."""

    @operation("getLiveness", "Health", {200: Health}, public=True)
    def get(self, request: Request) -> Response:
        """That this process answers; nothing else is asked."""
        return Response({"status": "UP"}, headers={"Cache-Control": "no-store"})
