"""Connections outside Django's: the settings that they inherit."""

import json
import os
import socket
from pathlib import Path

import psycopg
import pytest

from executions.database import connection
from runners.process import own_connection


@pytest.mark.django_db
def test_connections_notice_a_server_that_is_lost_while_they_wait_for_it() -> None:
    given = own_connection.parameters()
    with psycopg.connect(**given) as own, socket.socket(fileno=os.dup(own.fileno())) as line:
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000


@pytest.mark.django_db
def test_connections_are_encrypted_as_django_s_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "sslmode", "require")

    # The server of the tests has no certificate: without the setting, it would take the connection.
    with pytest.raises(psycopg.OperationalError, match="SSL"):
        psycopg.connect(**own_connection.parameters())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [("sslrootcert", Path("/ca.pem")), ("ssl_min_protocol_version", "TLSv1.3"), ("keepalives", 0)],
)
def test_connections_have_each_option_of_libpq(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], name, value)

    given = own_connection.parameters()

    assert given[name] == (str(value) if isinstance(value, Path) else value)
    assert json.loads(json.dumps(given)) == given, "another program can have them"
