"""Identity providers for sign-in: a real third-party server, and one that can lie."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

from tests.support.waiting import wait_until
from valkyr_project.embedded.child import free_port

CLIENT = "valkyr-tests"


class Provider:
    """oidc-provider-mock in a separate process."""

    def __init__(self, url: str) -> None:
        self.url = url

    def person(self, subject: str, **claims: Any) -> None:
        """Set what the provider says about a user from now on."""
        httpx.put(f"{self.url}/users/{subject}", json=claims, timeout=120).raise_for_status()

    def consent(self, address: str, subject: str, **form: str) -> str:
        """Sign in at the provider; return the address to which it redirects."""
        answer = httpx.post(address, data={"sub": subject, **form}, timeout=120)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the entries of `VALKYR` for this provider."""
        return _entries(self.url, "Example ID", more)


def _entries(url: str, name: str, more: Mapping[str, Any]) -> dict[str, Any]:
    named = {
        "OIDC_ISSUER": url, "OIDC_CLIENT_ID": CLIENT, "OIDC_CLIENT_SECRET": "s3cret",
        "OIDC_NAME": name,
    }  # fmt: skip
    return named | {f"OIDC_{key.upper()}": value for key, value in more.items()}


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run the provider's process until the end of the block."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)],
        env=os.environ | {"AUTHLIB_INSECURE_TRANSPORT": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    provider = Provider(f"http://127.0.0.1:{port}")
    try:
        wait_until(lambda: _answers(provider.url), 30, "the identity provider's first answer")
        yield provider
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/openid-configuration").status_code == 200
    except httpx.TransportError:
        return False


class Liar:
    """A provider whose every answer a test can change; it starts with honest answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.signs_with: Any = self.key
        self.algorithm = "RS256"
        self.discovery: dict[str, Any] = {
            "issuer": url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "userinfo_endpoint": f"{url}/userinfo",
            "jwks_uri": f"{url}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        now = int(time.time())
        self.claims: dict[str, Any] = {
            "iss": url, "aud": CLIENT, "sub": "ada", "iat": now, "exp": now + 300,
        }  # fmt: skip
        self.user_info: dict[str, Any] = {"sub": "ada"}
        self.token: dict[str, Any] = {"access_token": "a", "token_type": "Bearer"}
        self.asked: list[dict[str, str]] = []
        self.listen: Callable[[], None] = lambda: None

    def answer(self, path: str, form: dict[str, str]) -> Any:
        """Return the answer to a request."""
        self.listen()
        if path == "/.well-known/openid-configuration":
            return self.discovery
        if path == "/jwks":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [public | {"kid": "1", "use": "sig", "alg": "RS256"}]}
        if path == "/token":
            self.asked.append(form)
            signed = jwt.encode(self.claims, self.signs_with, self.algorithm, {"kid": "1"})
            return {"id_token": signed} | self.token
        return self.user_info

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the entries of `VALKYR` for this provider."""
        return _entries(self.url, "Liar", more)


@contextmanager
def running_liar() -> Iterator[Liar]:
    """Run a lying provider that listens until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = parse_qs(self.rfile.read(length).decode())
            said = liar.answer(urlsplit(self.path).path, {k: v[0] for k, v in form.items()})
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - http.server finds it by this name

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    liar = Liar(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield liar
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def query_of(address: str) -> dict[str, str]:
    """Return the query of an address, with one value for each name."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def begin(client: Client, wanted: str = "") -> str:
    """Press the button; return the provider's address."""
    answer = client.get("/sso/begin", {"next": wanted} if wanted else {})
    assert answer.status_code == 302, answer.content
    return answer.headers["Location"]
