"""A step's inputs: rendered, merged with an operator's overrides, and hashed for the step's key."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from typing import Any

from executions import payload_store, payloads
from executions.configuration import settings as valkyr_settings
from executions.definition.graph.model import Step
from executions.definition.limits import limits
from executions.definition.templates import RenderBudget
from executions.payload_store import writing
from executions.payload_store.writing import Encoded
from executions.payloads import STORED, is_reference
from runners.segment import container_inputs, stored_results
from runners.segment.template_data import TemplateData


@dataclass(frozen=True, slots=True)
class Prepared:
    """A step's prepared inputs: value, canonical JSON, hash and idempotency key.

    The hash is computed from the complete inputs. `text` is for the row: it contains references in
    place of stored values. It is empty for `large` inputs, until `put_away` has stored them.
    `changes` are an operator's changes to the inputs, as one merge patch. `refers` is true if the
    value itself contains references. `seconds` is the rendering time, which counts towards the
    step's time limit.
    """

    value: Any
    text: str
    hash: str
    key: str
    seconds: float = 0.0
    large: Encoded | None = None
    refers: bool = False
    changes: Any = None


def prepare(
    data: TemplateData, step: Step, attempt: int, overrides: Mapping[str, Any] | None = None
) -> Prepared:
    """Render a step's `with`, and return the prepared inputs.

    `overrides` are the values that a requeue stored: `inputs`, merged into the rendered inputs
    (nested keys too), and `salt`, which changes the idempotency key. Raises TemplateError,
    PayloadError, PayloadStoreUnavailable, and TemplateTimeout if rendering alone uses up the step's
    time limit.
    """
    began = time.monotonic()
    value = step.config.render(data.scope(step, attempt), budget_of(step, began))
    if data.not_loaded:
        value = stored_results.passed_on(data, value)
    patches = _patches(data, overrides)
    value = reduce(merged, patches, value)
    text, hashed, large = _for_row(data, step, value)
    own = key(data, step, hashed, _salt(overrides))
    refers = (large is not None or STORED in text) and _refers(value)
    took = time.monotonic() - began
    return Prepared(value, text, hashed, own, took, large, refers, _together(patches))


def budget_of(step: Step, began: float) -> RenderBudget | None:
    """Return the budget for rendering a step's inputs; None for constant inputs.

    The budget is the step's time limit.
    """
    if step.config.constant:
        return None
    return RenderBudget(seconds=step.timeout_seconds, deadline=began + step.timeout_seconds)


def recorded(
    data: TemplateData,
    step: Step,
    value: Any,
    hashed: str,
    overrides: Mapping[str, Any] | None = None,
) -> Prepared:
    """Return the prepared inputs of a woken run, as recorded in its row with their hash.

    A map's items are not loaded. Raises TemplateError for a missing or damaged value,
    PayloadStoreUnavailable, and LoadsOutside.
    """
    own = key(data, step, hashed, _salt(overrides))
    changes = _together(_patches(data, overrides))
    text = payloads.dump(payloads.trusted(value), _what(data, step))
    if STORED not in text:
        return Prepared(value, text, hashed, own, changes=changes)
    loaded = value if step.container == "map" else stored_results.load_recorded(data, value)
    return Prepared(loaded, text, hashed, own, refers=_refers(loaded), changes=changes)


def put_away(data: TemplateData, step: Step, prepared: Prepared) -> Prepared:
    """Store large inputs, and return them with references as text; return other inputs unchanged.

    Raises PayloadStoreUnavailable, the errors of sealing, and LoadsOutside in a transaction.
    """
    if prepared.large is None:
        return prepared
    large, what = prepared.large, _what(data, step)
    stored = (
        container_inputs.put_fields(data, step, large.value, what)
        if step.container
        else stored_results.put(data, large)
    )
    return replace(prepared, text=payloads.dump(stored, what), large=None)


def _for_row(data: TemplateData, step: Step, value: Any) -> tuple[str, str, Encoded | None]:
    """Return the text for the row, the hash, and the value to store first (None: nothing)."""
    what = _what(data, step)
    above = valkyr_settings().payload_store_above
    if (
        not payload_store.enabled()
        or not writing.is_above(value, above)
        or _read_in_rows(data, step)
    ):
        text = payloads.dump(value, what)
        return text, sha256(text.encode()).hexdigest(), None
    whole = writing.encoded(value, what, _most())
    if step.container:
        return "", whole.digest, whole
    shorter = stored_results.passed_on(data, value, loaded=True)
    if not writing.is_above(shorter, above):
        return payloads.dump(shorter, what), whole.digest, None
    large = writing.encoded(shorter, what, _most()) if _refers(shorter) else whole
    return "", whole.digest, large


def _read_in_rows(data: TemplateData, step: Step) -> bool:
    """Return whether the inputs stay in the row, for a remote runner or planning under a lock."""
    remote = not step.container and step.queue in limits().remote_queues
    return remote or container_inputs.reads_items_locked(step, data.graph)


def _refers(value: Any) -> bool:
    return next(payloads.references_in(value), None) is not None


def _most() -> int:
    return valkyr_settings().payload_store_limit


def _what(data: TemplateData, step: Step) -> str:
    return f"inputs of step {data.path(step)}"


def _patches(data: TemplateData, overrides: Mapping[str, Any] | None) -> list[Any]:
    """Load and return the merge patches of an operator's changes to the inputs, in sequence."""
    found = patches_of(overrides.get("inputs") if overrides else None)
    return [stored_results.load_changes(data, one) if is_reference(one) else one for one in found]


def _together(patches: list[Any]) -> Any:
    """Return one merge patch that names every changed key; None if there are no patches."""
    return reduce(one_after_other, patches) if patches else None


def patches_of(changes: Any) -> list[Any]:
    """Return the merge patches in changed inputs, in sequence.

    There can be several if some are stored or do not combine.
    """
    return changes if isinstance(changes, list) else [changes] if changes else []


def _salt(overrides: Mapping[str, Any] | None) -> str:
    return overrides.get("salt", "") if overrides else ""


def key(data: TemplateData, step: Step, inputs_hash: str, salt: str = "") -> str:
    """Return the idempotency key: SHA-256 over execution, step path, module, inputs and config.

    All attempts with equal inputs have the same key, unless a requeue adds a `salt`, as it does
    after an error of the type PERMANENT.
    """
    parts = (
        f"{data.context.execution_id}\n{data.path(step)}\n{step.module_uuid}\n{inputs_hash}\n"
        f"{step.config_hash}\n{salt}"
    )
    return sha256(parts.encode()).hexdigest()


def stored_inputs(data: TemplateData, step: Step, prepared: Prepared | None) -> str | None:
    """Return the inputs in the form that the run's row contains; None if there are none."""
    if prepared is None:
        return None
    return data.context.sealer.json(prepared.text, "inputs", data.path(step))


def merged(base: Any, changes: Any) -> Any:
    """Return `base` changed by a JSON merge patch (RFC 7396): keys merge, and null removes keys."""
    if not isinstance(changes, Mapping):
        return changes
    out = dict(base) if isinstance(base, dict) else {}
    for name, value in changes.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merged(out.get(name), value)
    return out


def combine(first: Any, second: Any) -> bool:
    """Return whether `one_after_other` has the effect of both merge patches in sequence.

    It does not if the second changes keys of an object that the first replaces or removes: a merge
    patch cannot replace an object with another.
    """
    if not isinstance(second, dict):
        return True
    if not isinstance(first, dict):
        return False
    return all(combine(first[name], value) for name, value in second.items() if name in first)


def one_after_other(first: Any, second: Any) -> Any:
    """Return one JSON merge patch with all changes of two patches, in order; see `combine`."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    changed = {name: one_after_other(first.get(name), value) for name, value in second.items()}
    return first | changed
