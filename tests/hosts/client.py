"""The API of a project, as a user with a password calls it, under the project's prefix."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.support.waiting import wait_until

ENDED = {"SUCCESS", "FAILED", "DEAD_LETTERED", "CANCELLED", "TIMED_OUT"}
PATIENCE = 60.0


class Client:
    """One signed-in user; an answer without a success status raises AssertionError."""

    def __init__(self, base: str, name: str, password: str) -> None:
        """Sign in; `base` is the URL that includes `valkyr.urls`, with a trailing slash."""
        self._http = httpx.Client(base_url=base, timeout=120)
        answer = self.post("v1/auth/token", {"username": name, "password": password})
        self._http.headers["Authorization"] = f"Bearer {answer['access']}"

    def get(self, path: str) -> Any:
        """Return the API's answer to a GET request."""
        return self._json(self._http.get(path))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the API's answer to a POST request."""
        return self._json(self._http.post(path, json=body))

    def refused(self, path: str, body: Mapping[str, Any]) -> str:
        """Return the API's answer to a rejected request."""
        answer = self._http.post(path, json=body)
        assert 400 <= answer.status_code < 500, answer.text[:2000]
        return answer.text

    def publish(self, definition: Mapping[str, Any]) -> str:
        """Import and publish a workflow; return its id."""
        found = self.post("v1/Workflow/import", definition)
        self.post(f"v1/Workflow/{found['id']}/publish", {})
        return str(found["id"])

    def execute(self, workflow: str, payload: Mapping[str, Any]) -> str:
        """Start an execution; return its id."""
        found = self.post(f"v1/WorkflowExecution/{workflow}/execute", {"params": payload})
        return str(found["id"])

    def ended(self, execution: str, why: str = "") -> dict[str, Any]:
        """Wait for the end of the execution, and return it."""
        found: dict[str, Any] = {}

        def is_over() -> bool:
            found.update(self.get(f"v1/WorkflowExecution/{execution}"))
            return found["state"] in ENDED

        try:
            wait_until(is_over, PATIENCE)
        except AssertionError:
            raise AssertionError(f"{execution} did not end: {found} {why}") from None
        return found

    def dead_letters(self, workflow: str) -> list[dict[str, Any]]:
        """Return the open dead letters of a workflow."""
        found: list[dict[str, Any]] = self.get(
            f"v1/DeadLetterQueue?resolution=PENDING&workflowId={workflow}"
        )
        return found

    @staticmethod
    def _json(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.url}: {answer.status_code} {answer.text[:2000]}"
        return answer.json()
