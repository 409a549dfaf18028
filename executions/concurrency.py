"""Concurrency keys: at most so many executions of a workflow with the same key are under way.

A key is held by the root executions that are RUNNING or PAUSED, asleep ones too. Who starts or
admits an execution with a key holds the key's lock until its transaction ends; keys are locked
after the workspace's row and before executions, in one order.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from executions import payloads, statements
from executions.errors import InvalidPayload
from executions.graph.model import Concurrency
from executions.graph.problem import Problem
from executions.templates import TemplateError

MAX_KEY = 300


class Key(NamedTuple):
    """What executions share that must not run at once: a workflow, and the text of its key."""

    workflow_id: UUID
    text: str


def render(rule: Concurrency, payload: Any, path: str = "params") -> str | None:
    """The key of an execution with this payload; None when the rule does not apply to it.

    Null and "" mean that it does not. A value that is no text counts as its canonical JSON, and
    a key longer than 300 characters as its digest. Raises InvalidPayload when the key cannot be
    made from this payload.
    """
    try:
        value = rule.key.render({"input": payload})
    except TemplateError as error:
        raise InvalidPayload(
            "The workflow's concurrency key cannot be made from this payload.",
            [Problem(path, "concurrency_key", f"settings.concurrency.key: {error}")],
        ) from error
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else payloads.dump(value, "concurrency key")
    return text if len(text) <= MAX_KEY else f"sha256:{payloads.digest(text)}"


def lock(keys: Collection[Key]) -> None:
    """Hold these keys until the transaction ends; before any execution is locked."""
    if keys:
        statements.fetch("lock_keys", {"numbers": sorted({_number(key) for key in keys})})


def holders(keys: Collection[Key]) -> Mapping[Key, int]:
    """How many executions hold each of the keys now."""
    if not keys:
        return {}
    wanted = sorted(set(keys))
    found = statements.fetch(
        "holders",
        {"workflows": [key.workflow_id for key in wanted], "keys": [key.text for key in wanted]},
    )
    return {Key(workflow_id, text): count for workflow_id, text, count in found}


def _number(key: Key) -> int:
    """The advisory lock of a key: 64 bits of its digest."""
    digest = payloads.digest(f"concurrency {key.workflow_id} {key.text}")
    return int(digest[:16], 16) - 2**63
