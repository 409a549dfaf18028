"""HTTPS steps check the certificate against the name, though they connect to an address.

`tls/localhost.pem` is a throw-away key and certificate for localhost and tls.test.
"""

import socket
import ssl
from pathlib import Path

import pytest

from runners.modules import registry
from runners.modules.base import StepError
from runners.states import ErrorType
from valkyr_plugins.connectors.network import transport

CERTIFICATE = Path(__file__).parent / "tls" / "localhost.pem"


@pytest.fixture
def names(partner):
    """Put the server under TLS; yield the names that clients request in their handshake."""
    asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda connection, name, _: asked.append(name)
    partner.socket = context.wrap_socket(partner.socket, server_side=True)
    return asked


@pytest.fixture(autouse=True)
def _fresh_client():
    """Create the client again before and after the test, because it reads certificates once."""
    _forget_client()
    yield
    _forget_client()


def _forget_client():
    transport.client().close()
    transport._client.cache_clear()


def send(url, context):
    return registry.get("http.request").run({"url": url}, context).outputs


def test_the_name_is_asked_for_and_checked(partner, names, step_context, monkeypatch):
    resolve = socket.getaddrinfo
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *more, **options: resolve(
            "127.0.0.1" if host.endswith(".test") else host, *more, **options
        ),
    )

    assert send(f"https://tls.test:{partner.server_port}/echo", step_context)["status"] == 200
    with pytest.raises(StepError, match="Hostname mismatch") as caught:
        send(f"https://other.test:{partner.server_port}/echo", step_context)

    assert names == ["tls.test", "other.test"]
    assert caught.value.error_type == ErrorType.PERMANENT


def test_an_unknown_authority_is_a_permanent_failure(partner, names, step_context):
    with pytest.raises(StepError, match="CERTIFICATE_VERIFY_FAILED") as caught:
        send(f"https://localhost:{partner.server_port}/echo", step_context)

    assert caught.value.error_type == ErrorType.PERMANENT
