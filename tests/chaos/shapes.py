"""The graphs of the load, in the middle of which faults occur. Each effect step writes a mark."""

from collections.abc import Mapping
from typing import Any

from executions.models import Workflow
from tests.support.workflows import effect, publish, task

RETRY = {"maxAttempts": 4, "baseSeconds": 0.2, "jitter": 0.1}
INNER = {
    "tasks": [effect("a", seconds=0.05), effect("b", after="a", value=7)],
    "output": "{{ tasks.b.output }}",
}
WEIGHTS = {"chain": 3, "fan": 3, "map": 2, "retrying": 2, "sleeper": 2, "subworkflow": 1}


def chain() -> dict[str, Any]:
    """Return six effects in a row: one segment, which another worker resumes in the middle."""
    return {
        "tasks": [
            effect(f"e{n}", after=f"e{n - 1}" if n else None, seconds=0.08, value=n)
            for n in range(6)
        ]
    }


def fan() -> dict[str, Any]:
    """Return a fork of five on two queues, joined: a chord, and the end of its last header."""
    parts = [effect(f"part{n}", after="begin", seconds=0.1) for n in range(5)]
    parts[0]["queue"] = "io"
    names = [part["id"] for part in parts]
    return {"tasks": [task("begin"), *parts, effect("join", after=names, join="all")]}


def mapped() -> dict[str, Any]:
    """Return a map over six items, three at once."""
    body = {"tasks": [effect("work", seconds=0.05, value="{{ item }}")]}
    items = {"items": [1, 2, 3, 4, 5, 6], "maxConcurrency": 3}
    return {"tasks": [task("each", "flow.map", **{"with": items}, body=body)]}


def retrying() -> dict[str, Any]:
    """Return a step that fails twice, then its successor."""
    return {
        "tasks": [
            effect("flaky", failTimes=2, retry=RETRY),
            effect("after", after="flaky", seconds=0.05),
        ]
    }


def sleeper() -> dict[str, Any]:
    """Return a wait of two seconds between two effects; the wait occupies no process."""
    waits = task("sleep", "test.wait", "before", **{"with": {"seconds": 2}})
    return {"tasks": [effect("before"), waits, effect("after", after="sleep")]}


def parent(slug: str) -> dict[str, Any]:
    """Return a step that waits for a child."""
    call = task("call", "flow.subworkflow", **{"with": {"workflow": slug}})
    return {"tasks": [call, effect("after", after="call")]}


def publish_all() -> Mapping[str, Workflow]:
    """Publish the workflows of the load; return them by shape, and the child's as `inner`."""
    inner = publish(INNER)
    documents = {
        "chain": chain(),
        "fan": fan(),
        "map": mapped(),
        "retrying": retrying(),
        "sleeper": sleeper(),
        "subworkflow": parent(inner.slug),
    }
    return {name: publish(document) for name, document in documents.items()} | {"inner": inner}
