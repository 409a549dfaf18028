"""Run a generated case as a request in this process, and roll it back; return its answer.

Paths and bodies get existing ids, of the caller's workspace and of the other one: random ids would
only give "not found".
"""

from dataclasses import dataclass
from typing import Any

import requests
from django.db import connection, transaction
from django.test import Client
from django.test.client import ClientHandler
from hypothesis import strategies as st
from schemathesis import Response

from tests.fuzz.callers import Caller, World

BASE = "http://localhost"
SESSION = requests.Session()
# Loads the middleware once; cookies are each client's own.
HANDLER = ClientHandler(enforce_csrf_checks=False)
PLACES = {"path": "path_parameters"}
KINDS = {
    "workflowId": "Workflow",
    "workflowDefinitionId": "Workflow",
    "workspaceId": "Workspace",
    "executionId": "WorkflowExecution",
    "queueId": "WorkflowExecution",
    "checkpointId": "checkpoint",
    "serviceAccountId": "ServiceAccount",
    "triggerId": "Trigger",
}


def with_known_ids(data: Any, case: Any, world: World, *, negative: bool) -> None:
    """Replace ids by ids of existing objects; values that are wrong on purpose stay wrong."""
    own = kind_of(case.operation.path)
    kept = wrong_on_purpose(case) if negative else set()
    for place, values in (("path_parameters", case.path_parameters), ("query", case.query)):
        if place in kept or not isinstance(values, dict):
            continue
        for name in values:
            kind = own if name == "id" else KINDS.get(name, "")
            values[name] = _known(data, kind, world, values[name])
        if "n" in values:
            values["n"] = 1
    if not negative and isinstance(case.body, dict):
        for name, value in case.body.items():
            if name == "ids" and isinstance(value, list):
                case.body[name] = [_known(data, own, world, item) for item in value]
            elif isinstance(value, str):
                case.body[name] = _known(data, KINDS.get(name, ""), world, value)


def _known(data: Any, kind: str, world: World, otherwise: Any) -> Any:
    here, there = (p.planted.ids.get(kind, []) for p in (world.here, world.there))
    if not (here or there):
        return otherwise
    # Mostly its own, and often enough another workspace's.
    which = data.draw(st.sampled_from([here or there, here or there, there or here, [otherwise]]))
    return data.draw(st.sampled_from(which))


def wrong_on_purpose(case: Any) -> set[str]:
    """Return the parts of a negative case that the generator made wrong on purpose."""
    wrong = {place.value for place, part in case.meta.components.items() if part.mode.is_negative}
    return {PLACES.get(place, place) for place in wrong}


def kind_of(path: str) -> str:
    """Return the kind of object whose id a path contains: `Workflow` for `/v1/Workflow/{id}`."""
    parts = path.split("/")
    return parts[2] if len(parts) > 2 else ""


@dataclass(frozen=True)
class Asked:
    """A case as any caller sends it."""

    sent: requests.PreparedRequest
    path: str
    body: bytes
    kind: str
    headers: dict[str, str]


def asked_by(case: Any) -> Asked:
    """Return the request of a case."""
    told = case.as_transport_kwargs(base_url=BASE)
    allowed = {key: told[key] for key in ("method", "url", "headers", "params", "json", "data")
               if told.get(key) is not None}  # fmt: skip
    sent = SESSION.prepare_request(requests.Request(**allowed, cookies=told.get("cookies")))
    body = sent.body or b""
    body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    path = sent.url.removeprefix(BASE) if sent.url else "/"
    # Without Accept-Encoding, so that the answer is not compressed and the checks can read it.
    dropped = {"Content-Length", "Cookie", "Accept-Encoding"}
    headers = {k: v for k, v in sent.headers.items() if k not in dropped}
    kind = headers.pop("Content-Type", "") or "application/octet-stream"
    return Asked(sent, path, body, kind, headers)


def answered(asked: Asked, caller: Caller) -> tuple[Response, str]:
    """Return the answer to a request, and all statements as one text; roll the changes back."""
    headers = dict(asked.headers)
    if caller.authorization:
        headers["Authorization"] = caller.authorization
    client = Client(raise_request_exception=False)
    client.handler = HANDLER
    point = transaction.savepoint()
    try:
        answer = client.generic(
            str(asked.sent.method), asked.path, asked.body, content_type=asked.kind,
            headers=headers,
        )  # fmt: skip
        content = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    finally:
        transaction.savepoint_rollback(point)
        connection.set_rollback(False)
    response = Response(
        status_code=answer.status_code,
        headers={name: [value] for name, value in answer.items()},
        content=content,
        request=asked.sent,
        elapsed=0,
        verify=False,
        message=answer.reason_phrase,
        encoding="utf-8",
    )
    return response, f"{asked.path} {asked.body.decode('utf-8', 'replace')} {headers}"
