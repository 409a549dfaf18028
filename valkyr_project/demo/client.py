"""The HTTP API client of the demo."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import httpx

from executions.definition.graph.document import load_text


class DemoError(Exception):
    """An error of the demo; the message says what was found, where, and what to do."""


CONNECT_RETRIES = 5  # over about 8 s
NO_ANSWER = "{url} does not answer ({error}). Is the stack still running? `make up` starts it."


class Api:
    """A signed-in client; every method raises DemoError for an unexpected response."""

    def __init__(self, url: str, username: str, password: str) -> None:
        """Sign in at `url` (without a trailing slash)."""
        self.url = url
        self._account = {"username": username, "password": password}
        # A separate transport ignores proxies of the environment, and retries while a web process
        # restarts.
        transport = httpx.HTTPTransport(retries=CONNECT_RETRIES)
        self._http = httpx.Client(base_url=url, timeout=30, transport=transport)
        self._sign_in()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def post(
        self, path: str, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a POST request and return the response's body; {} if the body is empty."""
        answer = self._send("POST", path, json=json, headers=headers)
        body: dict[str, Any] = answer.json() if answer.content else {}
        return body

    def rows(self, path: str, **filters: str) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, following its `Link` headers."""
        url: str | None = path
        query: Mapping[str, str] | None = filters | {"limit": "500"}
        while url:
            answer = self._send("GET", url, params=query)
            yield from answer.json()
            url, query = answer.links.get("next", {}).get("url"), None

    def import_workflow(self, definition: str, slug: str) -> str:
        """Create the workflow from YAML, or update the one with this slug; return its ID."""
        for row in self.rows("/v1/Workflow"):
            if row["slug"] == slug:
                return self._replace(row["id"], definition)
        headers = {"Content-Type": "application/yaml"}
        answer = self._send("POST", "/v1/Workflow/import", content=definition, headers=headers)
        return str(answer.json()["id"])

    def publish(self, workflow_id: str) -> int:
        """Publish the draft, unless it is unchanged; return the number of the newest version."""
        path = f"/v1/Workflow/{workflow_id}/publish"
        answer = self._send("POST", path, allow=(409,))
        if answer.status_code == 409:
            return int(self._send("GET", f"/v1/Workflow/{workflow_id}").json()["latestVersion"])
        return int(answer.json()["version"])

    def execute(self, workflow_id: str, payload: Any, key: str) -> dict[str, Any]:
        """Start one execution with an Idempotency-Key, and return the API's response."""
        path = f"/v1/WorkflowExecution/{workflow_id}/execute"
        return self.post(path, {"params": payload}, {"Idempotency-Key": key})

    def execute_batch(self, workflow_id: str, payloads: Sequence[Any]) -> list[str]:
        """Start an execution for each payload, all or none; return their IDs in the same order."""
        path = f"/v1/WorkflowExecution/{workflow_id}/execute-batch"
        ids: list[str] = self.post(path, {"payloads": list(payloads)})["ids"]
        return ids

    def _replace(self, workflow_id: str, definition: str) -> str:
        """Make `definition` the draft of an existing workflow; return the workflow's ID."""
        path = f"/v1/Workflow/{workflow_id}"
        known = {"If-Match": self._send("GET", path).headers["ETag"]}
        document = load_text(definition, content_type="application/yaml")
        self._send("PATCH", path, json={"definition": document}, headers=known)
        return workflow_id

    def _sign_in(self) -> None:
        try:
            answer = self._http.post("/v1/auth/token", json=self._account)
        except httpx.TransportError as error:
            raise DemoError(NO_ANSWER.format(url=self.url, error=error)) from error
        if answer.status_code != 200:
            raise DemoError(
                f"{self.url} rejected the sign-in of {self._account['username']!r} "
                f"({answer.status_code}). Set VALKYR_ADMIN_USERNAME and VALKYR_ADMIN_PASSWORD "
                "to the account that `make up` printed."
            )
        self._http.headers["Authorization"] = f"Bearer {answer.json()['access']}"

    def _send(
        self, method: str, path: str, *, allow: Sequence[int] = (), **more: Any
    ) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **more)
            if answer.status_code == 401:  # the token expired after half an hour
                self._sign_in()
                answer = self._http.request(method, path, **more)
        except httpx.TransportError as error:
            raise DemoError(NO_ANSWER.format(url=self.url, error=error)) from error
        if answer.is_error and answer.status_code not in allow:
            raise DemoError(f"{method} {path} got {answer.status_code}: {_detail(answer)}")
        return answer


def _detail(answer: httpx.Response) -> str:
    """Return a response's message: from the problem document, or the text if it is not JSON."""
    try:
        problem = answer.json()
    except ValueError:
        return answer.text[:500]
    lines = [str(problem.get("detail") or problem.get("title") or problem)]
    lines += [f"{e.get('path')}: {e.get('message')}" for e in problem.get("errors", [])]
    return "; ".join(lines)
