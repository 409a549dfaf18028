"""Put a step's large output and variables into object storage, before its result is recorded.

A step whose output cannot be stored fails as if its module had failed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from executions import payload_store, payloads
from executions.configuration import settings as valkyr_settings
from executions.database import connection
from executions.payload_store import writing
from executions.payload_store.writing import Encoded
from runners.segment import stored_results
from runners.segment.state import SegmentState
from runners.segment.work import Done


def dumped(value: Any, what: str) -> tuple[str, Encoded | None]:
    """Return an output's JSON for its row and None, or "" and the encoded output for `store`.

    A step that writes in the recording transaction keeps its output in the row, because the
    transaction holds locks. Raises PayloadError.
    """
    if not payload_store.enabled() or connection.in_atomic_block:
        return payloads.dump(value, what), None
    settings = valkyr_settings()
    above, most = settings.payload_store_above, settings.payload_store_limit
    if not _is_large(value, above):
        text = payloads.dump(value, what, most)
        if len(text) <= above:
            return text, None
    return "", writing.encoded(value, what, most)


def _is_large(value: Any, above: int) -> bool:
    try:
        return payloads.longer_than(value, above)
    except RecursionError:  # `dump` reports this error
        return False


def store(state: SegmentState, done: Done) -> Done:
    """Return the step with references in place of a large output and of large variables.

    The output is kept in memory for the next steps, unless it is too large for templates or
    contains references. Raises PayloadError, PayloadStoreUnavailable, and the errors of sealing.
    """
    variables = done.result.variables
    if variables and payload_store.enabled() and not connection.in_atomic_block:
        _store_variables(state, done, variables)
    if done.large is None:
        return done
    large = done.large
    reference = stored_results.put(state.data, large)
    done.outputs, done.stored = payloads.dump(reference, "reference to the output"), True
    done.large = None
    _remember(state, done, large, reference)
    return done


def _remember(state: SegmentState, done: Done, large: Encoded, reference: Any) -> None:
    """Keep the value in memory for the next steps.

    If the value exceeds the load limit or contains references, keep only its reference.
    """
    refers = next(payloads.references_in(large.value), None) is not None
    if refers or large.size > valkyr_settings().payload_load_limit:
        done.result = replace(done.result, outputs=reference)
    else:
        state.data.stored[id(large.value)] = (large.value, reference)


def _store_variables(state: SegmentState, done: Done, variables: Mapping[str, Any]) -> None:
    """Store large variables, and put the same references into an output that contains them."""
    settings, result = valkyr_settings(), done.result
    references = {}
    for name, value in variables.items():
        if writing.is_above(value, settings.payload_store_above):
            what = f"variable {name}"
            found = writing.encoded(value, what, settings.payload_store_limit)
            references[name] = stored_results.put(state.data, found)
    if not references:
        return
    outputs = result.outputs
    if isinstance(outputs, dict):
        outputs = {
            name: references[name] if name in references and value is variables[name] else value
            for name, value in outputs.items()
        }
    done.result = replace(result, outputs=outputs, variables={**variables, **references})
    done.outputs, done.large = dumped(outputs, "output of the step")
    done.stored = payloads.STORED in done.outputs
