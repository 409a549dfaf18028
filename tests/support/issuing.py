"""A real HTTP server that issues secrets as Vault and an OAuth 2.0 server do, and checks them."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class IssuingServer(ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1. Tests change its public attributes.

    `asked` lists method and path of each request. `/api` accepts the secrets in `valid`, as bearer
    tokens. `data` and `lease` are what Vault answers at `read`; `held` keeps reads waiting.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[Any] = []
        self.valid: set[str] = set()
        self.client_tokens = {"root-token"}
        self.lease = 3600
        self.renewable = False
        self.renews_for = 3600
        self.kv: dict[str, Any] | None = None
        self.status = 200
        self.number = 0
        self.held = threading.Event()
        self.held.set()
        self.refresh_token = "refresh-0-token"
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.held.set()
        self.shutdown()
        self.server_close()

    def count(self, path: str) -> int:
        return sum(one == path for _, one in self.asked)

    def issue(self) -> str:
        """A new secret, which `/api` accepts."""
        with self.lock:
            self.number += 1
            made = f"secret-number-{self.number}"
            self.valid.add(made)
            return made

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that close their connection are part of the tests."""


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: IssuingServer

    def _serve(self) -> None:
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        server = self.server
        server.asked.append((self.command, path))
        server.headers.append({name.lower(): value for name, value in self.headers.items()})
        server.bodies.append(body)
        if path == "/api":
            self._api()
        elif path == "/token":
            self._token({name: values[0] for name, values in parse_qs(body).items()})
        elif path.endswith("/login"):
            token = f"client-token-{len(server.client_tokens)}"
            server.client_tokens.add(token)
            known = "wrong" not in body
            given = {"auth": {"client_token": token, "lease_duration": 1800}}
            self._reply(200, given) if known else self._reply(400, {"errors": ["invalid role"]})
        elif self.headers.get("x-vault-token") not in server.client_tokens:
            self._reply(403, {"errors": ["permission denied"]})
        elif path == "/v1/sys/leases/renew":
            self._reply(200, {"lease_id": "lease-1", "lease_duration": server.renews_for})
        else:
            self._secret()

    for _method in ("GET", "POST", "PUT"):
        locals()[f"do_{_method}"] = _serve

    def _secret(self) -> None:
        server = self.server
        server.held.wait(10)
        if server.status != 200:
            self._reply(server.status, {"errors": ["no such thing"]})
        elif server.kv is not None:
            self._reply(200, {"lease_id": "", "lease_duration": 0, "data": server.kv})
        else:
            data = {"token": server.issue(), "username": "v-role", "password": "p@ss/word", "n": 1}
            lease = {"lease_id": "lease-1", "renewable": server.renewable}
            self._reply(200, lease | {"lease_duration": server.lease, "data": data})

    def _token(self, form: dict[str, str]) -> None:
        server = self.server
        server.held.wait(10)
        if server.status != 200:
            self._reply(server.status, {"error": "invalid_client", "error_description": "no"})
            return
        answer: dict[str, Any] = {"token_type": "Bearer", "expires_in": server.lease}
        if form.get("grant_type") == "refresh_token":
            with server.lock:
                if form.get("refresh_token") != server.refresh_token:
                    self._reply(400, {"error": "invalid_grant"})
                    return
                server.refresh_token = f"refresh-{server.number + 1}-token"
                answer["refresh_token"] = server.refresh_token
        self._reply(200, answer | {"access_token": server.issue()})

    def _api(self) -> None:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        good = token in self.server.valid
        self._reply(200 if good else 401, {"token": token if good else "?"})

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass
