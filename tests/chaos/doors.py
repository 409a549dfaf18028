"""The two ways in which the load starts executions: by a call, and over HTTP.

A key makes retries safe: a client without a response repeats the request with the same key.
"""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import httpx
from django.db import Error, connection

from executions.models import Workflow
from executions.triggers.start import start_execution
from tests.support.workflows import ACTOR


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request: `accepted` is the promised execution; if there is none, `refused`
    is the rejection.
    """

    accepted: UUID | None
    refused: str = ""


class Door(Protocol):
    """A way to start an execution."""

    def ask(self, workflow: Workflow, key: str) -> Answer:
        """Request one execution."""


class Call:
    """Calls `start_execution` in this process."""

    def ask(self, workflow: Workflow, key: str) -> Answer:
        try:
            started = start_execution(workflow, {}, actor=ACTOR, idempotency_key=key)
        except Error as error:
            connection.close()
            return Answer(None, type(error).__name__)
        return Answer(started.execution.pk)


class Http:
    """Sends a POST request to the web process."""

    def __init__(self, address: str, token: str) -> None:
        self._client = httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=20
        )

    def ask(self, workflow: Workflow, key: str) -> Answer:
        try:
            answer = self._client.post(
                f"/v1/WorkflowExecution/{workflow.pk}/execute",
                json={"params": {}},
                headers={"Idempotency-Key": key},
            )
        except httpx.TransportError as error:
            return Answer(None, type(error).__name__)
        if answer.status_code != 202:
            return Answer(None, str(answer.status_code))
        return Answer(UUID(answer.json()["id"]))
