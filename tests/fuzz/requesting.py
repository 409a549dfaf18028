"""A generated case becomes a request in this process, undone afterwards; and its answer a response.

Addresses and bodies are given ids that exist, of the caller's workspace and of the other one:
random ones would find nothing but "not found".
"""

from typing import Any

import requests
from django.db import connection, transaction
from django.test import Client
from hypothesis import strategies as st
from schemathesis import Response

from tests.fuzz.callers import Caller, World

BASE = "http://localhost"
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
    """Put planted ids where ids belong; what was made wrong on purpose stays wrong."""
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
    # Mostly one's own, and often enough somebody else's.
    which = data.draw(st.sampled_from([here or there, here or there, there or here, [otherwise]]))
    return data.draw(st.sampled_from(which))


def wrong_on_purpose(case: Any) -> set[str]:
    """The parts of a negative case that are wrong on purpose."""
    wrong = {place.value for place, part in case.meta.components.items() if part.mode.is_negative}
    return {PLACES.get(place, place) for place in wrong}


def kind_of(path: str) -> str:
    """The kind of thing whose id a path holds: `Workflow` of `/v1/Workflow/{id}`."""
    parts = path.split("/")
    return parts[2] if len(parts) > 2 else ""


def answered(case: Any, caller: Caller) -> tuple[Response, str]:
    """The answer to a case, and all that was asked, as one text; whatever it changed is undone."""
    told = case.as_transport_kwargs(base_url=BASE)
    session = requests.Session()
    allowed = {key: told[key] for key in ("method", "url", "headers", "params", "json", "data")
               if told.get(key) is not None}  # fmt: skip
    prepared = session.prepare_request(requests.Request(**allowed, cookies=told.get("cookies")))
    body = prepared.body or b""
    body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    path = prepared.url.removeprefix(BASE) if prepared.url else "/"
    headers = {k: v for k, v in prepared.headers.items() if k not in {"Content-Length", "Cookie"}}
    kind = headers.pop("Content-Type", "")
    if caller.authorization:
        headers["Authorization"] = caller.authorization
    client = Client(raise_request_exception=False)
    point = transaction.savepoint()
    try:
        answer = client.generic(
            str(prepared.method), path, body, content_type=kind or "application/octet-stream",
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
        request=prepared,
        elapsed=0,
        verify=False,
        message=answer.reason_phrase,
        encoding="utf-8",
    )
    asked = f"{path} {body.decode('utf-8', 'replace')} {headers}"
    return response, asked
