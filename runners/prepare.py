"""A step's inputs: rendered, merged with an operator's overrides, hashed, keyed."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from executions import payloads
from executions.graph.model import Step
from executions.templating.meter import metered
from runners.journey import Journey


@dataclass(frozen=True, slots=True)
class Prepared:
    """Inputs ready to run: their value, canonical JSON, hash and the idempotency key."""

    value: Any
    text: str
    hash: str
    key: str


def prepare(
    journey: Journey, step: Step, attempt: int, overrides: Mapping[str, Any] | None = None
) -> Prepared:
    """Render a step's `with`.

    `overrides` is what a requeue stored: `inputs`, merged into the rendered ones (nested keys
    too), and `salt`, which makes the key a new one. Rendering has the step's time and no more.
    Raises TemplateError (RenderingTimeout when that time is over), PayloadError.
    """
    with metered(step.timeout_seconds):
        value = step.config.render(journey.scope(step, attempt))
    if overrides and overrides.get("inputs"):
        value = merged(value, overrides["inputs"])
    return restored(journey, step, value, overrides)


def restored(
    journey: Journey, step: Step, value: Any, overrides: Mapping[str, Any] | None = None
) -> Prepared:
    """The same of inputs that were rendered already: those of a run that is woken."""
    text = payloads.dump(value, f"inputs of step {journey.path(step)}")
    hashed = sha256(text.encode()).hexdigest()
    salt = overrides.get("salt", "") if overrides else ""
    return Prepared(value, text, hashed, key(journey, step, hashed, salt))


def key(journey: Journey, step: Step, inputs_hash: str, salt: str = "") -> str:
    """The idempotency key: SHA-256 over execution, step path, module, inputs and config.

    Equal for every attempt with equal inputs; after a permanent failure a requeue adds a salt.
    """
    parts = (
        f"{journey.execution_id}\n{journey.path(step)}\n{step.module_uuid}\n{inputs_hash}\n"
        f"{step.config_hash}\n{salt}"
    )
    return sha256(parts.encode()).hexdigest()


def merged(base: Any, changes: Any) -> Any:
    """JSON merge patch (RFC 7396): nested keys are merged, null removes a key."""
    if not isinstance(changes, Mapping):
        return changes
    out = dict(base) if isinstance(base, dict) else {}
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merged(out.get(name), value)
    return out
