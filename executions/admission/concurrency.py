"""Concurrency keys limit how many executions of a workflow with the same key run simultaneously.

RUNNING and PAUSED root executions hold a key, including suspended ones. Starting or admitting an
execution with a key locks the key until the transaction ends; keys are locked in a fixed order,
after the workspace's row and before executions.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from uuid import UUID

from executions import payloads
from executions.database import statements
from executions.definition.graph.model import Concurrency
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.templates import WEB, RenderBudget, TemplateError
from executions.definition.templating import render_guard
from executions.errors import InvalidPayload, PayloadError

MAX_KEY = 300


class ConcurrencyKey(NamedTuple):
    """The key of executions that share a concurrency limit: a workflow, and the text of the key."""

    workflow_id: UUID
    text: str


class ConcurrencyUse(NamedTuple):
    """The number of executions that hold a key, and the number that wait for it."""

    holders: int
    waiting: int


NOBODY = ConcurrencyUse(0, 0)


_shared: ContextVar[RenderBudget | None] = ContextVar("concurrency_key_budget", default=None)


@contextmanager
def one_budget() -> Iterator[None]:
    """Let all keys that are rendered in this block share one rendering budget."""
    token = _shared.set(RenderBudget(profile=WEB))
    try:
        yield
    finally:
        _shared.reset(token)


def render_all(
    rule: Concurrency | None, workflow_id: UUID, payload_list: Sequence[Any]
) -> list[ConcurrencyKey | None]:
    """Return the concurrency key for each payload; None if there is no rule, or the key is empty.

    Raises InvalidPayload with the problems of all payloads for which the key cannot be rendered.
    """
    if rule is None:
        return [None] * len(payload_list)
    # Rendering in a request is allowed here, because the response depends on the key.
    with render_guard.allowed():
        return _render_all(rule, workflow_id, payload_list)


def _render_all(
    rule: Concurrency, workflow_id: UUID, payload_list: Sequence[Any]
) -> list[ConcurrencyKey | None]:
    keys: list[ConcurrencyKey | None] = []
    problems: list[DefinitionProblem] = []
    # All payloads of a request share one budget, which the caller may have created.
    budget = _shared.get() or RenderBudget(profile=WEB)
    budget.resume()
    for number, payload in enumerate(payload_list):
        path = f"payloads[{number}]" if len(payload_list) > 1 else "params"
        try:
            text = render(rule, payload, budget)
        except (TemplateError, PayloadError) as error:
            problems.append(
                DefinitionProblem(path, "concurrency_key", f"settings.concurrency.key: {error}")
            )
            continue
        keys.append(None if text is None else ConcurrencyKey(workflow_id, text))
    if problems:
        raise InvalidPayload(
            "The workflow's concurrency key cannot be rendered from the payload.", problems
        )
    return keys


def render(rule: Concurrency, payload: Any, budget: RenderBudget | None = None) -> str | None:
    """Return the text of a payload's key; None if the key is null or "", which means no limit.

    Values other than text become canonical JSON; a key longer than 300 characters becomes its
    digest. Raises TemplateError or PayloadError.
    """
    value = rule.key.render({"input": payload}, budget)
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else payloads.dump(value, "concurrency key")
    return text if len(text) <= MAX_KEY else f"sha256:{payloads.digest(text)}"


def lock(keys: Collection[ConcurrencyKey]) -> None:
    """Lock the keys until the transaction ends. Call this before any execution is locked."""
    if keys:
        statements.fetch("lock_keys", {"numbers": sorted({_number(key) for key in keys})})


def uses(
    keys: Collection[ConcurrencyKey], *, waiting: int = 0
) -> dict[ConcurrencyKey, ConcurrencyUse]:
    """Return the use of each key; waiting executions are counted up to `waiting`."""
    if not keys:
        return {}
    wanted = sorted(set(keys))
    found = statements.fetch(
        "count_key_use",
        {
            "workflows": [key.workflow_id for key in wanted],
            "keys": [key.text for key in wanted],
            "most": waiting,
        },
    )
    return {
        ConcurrencyKey(workflow_id, text): ConcurrencyUse(*counts)
        for workflow_id, text, *counts in found
    }


def _number(key: ConcurrencyKey) -> int:
    """Return the number of a key's advisory lock: 64 bits of the key's digest."""
    digest = payloads.digest(f"concurrency {key.workflow_id} {key.text}")
    return int(digest[:16], 16) - 2**63
