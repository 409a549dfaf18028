"""A step's inputs: rendered, merged with an operator's overrides, and hashed for its key."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from executions import payloads
from executions.definition.graph.model import Step
from executions.definition.templates import RenderBudget
from runners.segment.template_data import TemplateData


@dataclass(frozen=True, slots=True)
class Prepared:
    """Inputs ready to run: their value, canonical JSON, hash and idempotency key.

    `seconds` is the rendering time, which counts towards the step's time limit.
    """

    value: Any
    text: str
    hash: str
    key: str
    seconds: float = 0.0


def prepare(
    data: TemplateData, step: Step, attempt: int, overrides: Mapping[str, Any] | None = None
) -> Prepared:
    """Render a step's `with`.

    `overrides` are the values that a requeue stored: `inputs`, merged into the rendered ones
    (nested keys too), and `salt`, which changes the key. Raises TemplateError, PayloadError, and
    TemplateTimeout if rendering alone takes the step's time limit.
    """
    began = time.monotonic()
    value = step.config.render(data.scope(step, attempt), budget_of(step, began))
    if overrides and overrides.get("inputs"):
        value = merged(value, overrides["inputs"])
    return restored(data, step, value, overrides, began)


def budget_of(step: Step, began: float) -> RenderBudget | None:
    """Return the rendering budget of a step's inputs: at most the step's time limit."""
    if step.config.constant:
        return None
    return RenderBudget(seconds=step.timeout_seconds, deadline=began + step.timeout_seconds)


def restored(
    data: TemplateData,
    step: Step,
    value: Any,
    overrides: Mapping[str, Any] | None = None,
    began: float | None = None,
) -> Prepared:
    """Return the prepared inputs of a woken run, which were rendered before.

    `began` is the time of `time.monotonic` at which this attempt's rendering began, or None.
    """
    text = payloads.dump(value, f"inputs of step {data.path(step)}")
    hashed = sha256(text.encode()).hexdigest()
    salt = overrides.get("salt", "") if overrides else ""
    seconds = 0.0 if began is None else time.monotonic() - began
    return Prepared(value, text, hashed, key(data, step, hashed, salt), seconds)


def key(data: TemplateData, step: Step, inputs_hash: str, salt: str = "") -> str:
    """Return the idempotency key: SHA-256 over execution, step path, module, inputs and config.

    The key is equal for all attempts with equal inputs; after a permanent failure a requeue adds a
    salt.
    """
    parts = (
        f"{data.context.execution_id}\n{data.path(step)}\n{step.module_uuid}\n{inputs_hash}\n"
        f"{step.config_hash}\n{salt}"
    )
    return sha256(parts.encode()).hexdigest()


def stored_inputs(data: TemplateData, step: Step, prepared: Prepared | None) -> str | None:
    """Return the inputs as the run's row holds them."""
    if prepared is None:
        return None
    return data.context.sealer.json(prepared.text, "inputs", data.path(step))


def merged(base: Any, changes: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396): nested keys are merged, and null removes a key."""
    if not isinstance(changes, Mapping):
        return changes
    out = dict(base) if isinstance(base, dict) else {}
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merged(out.get(name), value)
    return out
