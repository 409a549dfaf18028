"""The stack's API, for a journey's checks of the stored data."""

import json
import urllib.request
from typing import Any

from tests.support.pages import sign_in
from tests.support.stack import Stack


class Api:
    """Calls the API as the stack's administrator, with one token."""

    def __init__(self, stack: Stack) -> None:
        self._url = stack.url
        self._token = sign_in(stack)

    def __call__(self, path: str, body: Any = None) -> Any:
        """Return the answer to a GET request, or with a body to a POST request."""
        request = urllib.request.Request(
            f"{self._url}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def draft(self, workflow: str) -> dict[str, Any]:
        """Return the stored draft of a workflow."""
        found: dict[str, Any] = self(f"/v1/Workflow/{workflow}")["definition"]
        return found
