"""A real HTTP server that issues secrets as Vault, an OAuth 2.0 server and AWS's STS do."""

import base64
import hashlib
import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

STS = "https://sts.amazonaws.com/doc/2011-06-15/"


class IssuingServer(ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1. Tests change its public attributes.

    `asked` lists method and path of each request. `/api` accepts the secrets in `valid`, as bearer
    tokens. `data` and `lease` are Vault's answers at `read`; `held` delays reads.
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
        self.codes: dict[str, dict[str, str]] = {}
        self.declines = ""
        self.gives_refresh_token = True
        self.aws_keys = {"AKIATEST0001": "the-secret-of-the-user"}
        self.web_identity = "token-of-the-service-account"
        self.external_id = ""
        self.sts_error = ""
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
        """Return a new secret, which `/api` accepts."""
        with self.lock:
            self.number += 1
            made = f"secret-number-{self.number}"
            self.valid.add(made)
            return made

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: some tests close the connection."""


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
        elif path == "/authorize":
            self._authorize()
        elif path == "/token":
            self._token({name: values[0] for name, values in parse_qs(body).items()})
        elif path == "/sts/":
            self._sts(body)
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
        server.held.wait(60)
        if server.status != 200:
            self._reply(server.status, {"errors": ["no such thing"]})
        elif server.kv is not None:
            self._reply(200, {"lease_id": "", "lease_duration": 0, "data": server.kv})
        else:
            data = {"token": server.issue(), "username": "v-role", "password": "p@ss/word", "n": 1}
            lease = {"lease_id": "lease-1", "renewable": server.renewable}
            self._reply(200, lease | {"lease_duration": server.lease, "data": data})

    def _authorize(self) -> None:
        """Redirect the browser at once: as after a consent, or with the error `declines`."""
        server = self.server
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        told = {"state": asked["state"]}
        if server.declines:
            told["error"] = server.declines
        else:
            told["code"] = f"code-{len(server.asked)}"
            server.codes[told["code"]] = asked
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(told)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _token(self, form: dict[str, str]) -> None:
        server = self.server
        server.held.wait(60)
        if server.status != 200:
            self._reply(server.status, {"error": "invalid_client", "error_description": "no"})
            return
        answer: dict[str, Any] = {"token_type": "Bearer", "expires_in": server.lease}
        if form.get("grant_type") == "authorization_code":
            asked = server.codes.pop(form.get("code", ""), None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            told = (form.get("redirect_uri"), challenge)
            if asked is None or told != (asked["redirect_uri"], asked["code_challenge"]):
                self._reply(400, {"error": "invalid_grant"})
                return
            if server.gives_refresh_token:
                answer["refresh_token"] = server.refresh_token
        if form.get("grant_type") == "refresh_token":
            with server.lock:
                if form.get("refresh_token") != server.refresh_token:
                    self._reply(400, {"error": "invalid_grant"})
                    return
                server.refresh_token = f"refresh-{server.number + 1}-token"
                answer["refresh_token"] = server.refresh_token
        self._reply(200, answer | {"access_token": server.issue()})

    def _sts(self, body: str) -> None:
        """Answer as STS does, in its XML; check signatures."""
        server = self.server
        server.held.wait(60)
        form = {name: values[0] for name, values in parse_qs(body).items()}
        action, code = form["Action"], server.sts_error
        if action == "AssumeRole":
            if form.get("ExternalId", "") != server.external_id:
                code = code or "AccessDenied"
            if not self._is_signed(body):
                code = code or "SignatureDoesNotMatch"
        elif form["WebIdentityToken"] != server.web_identity:
            code = code or "InvalidIdentityToken"
        if code:
            told = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>No.</Message></Error>"
            text = f'<ErrorResponse xmlns="{STS}">{told}<RequestId>1</RequestId></ErrorResponse>'
            self._reply(503 if code == "Throttling" else 403, text)
            return
        ends = datetime.now(UTC) + timedelta(
            seconds=min(server.lease, int(form["DurationSeconds"]))
        )
        number = server.issue()
        keys = (
            f"<AccessKeyId>ASIA-{number}</AccessKeyId>"
            f"<SecretAccessKey>key-{number}</SecretAccessKey>"
            f"<SessionToken>token-{number}</SessionToken>"
            f"<Expiration>{ends:%Y-%m-%dT%H:%M:%SZ}</Expiration>"
        )
        result = f"<{action}Result><Credentials>{keys}</Credentials></{action}Result>"
        self._reply(200, f'<{action}Response xmlns="{STS}">{result}</{action}Response>')

    def _is_signed(self, body: str) -> bool:
        """Return whether the request has the signature that botocore computes for it."""
        given = self.headers.get("authorization", "")
        parts = dict(part.strip().split("=", 1) for part in given.partition(" ")[2].split(","))
        key = parts.get("Credential", "").split("/")[0]
        secret = self.server.aws_keys.get(key)
        if secret is None:
            return False
        names = parts["SignedHeaders"].split(";")
        request = AWSRequest(
            "POST",
            f"{self.server.url}{self.path}",
            headers={name: self.headers[name] for name in names},
            data=body,
        )
        request.context["timestamp"] = self.headers["x-amz-date"]
        signer = SigV4Auth(Credentials(key, secret), "sts", parts["Credential"].split("/")[2])
        text = signer.string_to_sign(request, signer.canonical_request(request))
        return bool(signer.signature(text, request) == parts["Signature"])

    def _api(self) -> None:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        good = token in self.server.valid
        self._reply(200 if good else 401, {"token": token if good else "?"})

    def _reply(self, status: int, body: dict[str, Any] | str) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        kind = "text/xml" if isinstance(body, str) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass
