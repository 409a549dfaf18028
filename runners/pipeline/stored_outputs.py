"""Put a step's large output into object storage, before its result is recorded.

A step whose output cannot be stored fails as if its module had failed, and is tried again.
"""

from dataclasses import replace
from typing import Any

from executions import payload_store, payloads
from executions.configuration import settings as valkyr_settings
from executions.database import connection
from executions.payload_store import writing
from executions.payload_store.writing import Encoded
from runners.conf import pool
from runners.segment.state import SegmentState
from runners.segment.work import Done


def dumped(value: Any, what: str) -> tuple[str, Encoded | None]:
    """Return an output's JSON for its row; or an empty text, and the encoded output for `store`.

    A step that writes with its record keeps its output in the row: its transaction holds locks.
    Raises PayloadError.
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
    except RecursionError:  # `dump` reports it
        return False


def store(state: SegmentState, done: Done) -> Done:
    """Return the step with a reference in place of its output's text, if the output is large.

    The value stays in memory for the next steps, unless it is too large for templates. Raises
    PayloadStoreUnavailable, and the errors of sealing.
    """
    if done.large is None:
        return done
    context, large = state.context, done.large
    workspace_id = context.version.workspace_id
    row = writing.note(workspace_id, context.execution_id, large, context.sealer.key)
    release_connection()
    writing.write(workspace_id, row, large.parts())
    writing.written(row)
    release_connection()
    reference = writing.refer(row, large.value)
    done.outputs, done.stored = payloads.dump(reference, "reference to the output"), True
    done.large = None
    if row.size > valkyr_settings().payload_load_limit:
        done.result = replace(done.result, outputs=reference)
    else:
        state.data.stored[id(large.value)] = (large.value, reference)
    return done


def release_connection() -> None:
    """Give a thread's connection back to the pool while the thread waits for the store."""
    if pool() == "threads" and not connection.in_atomic_block:
        connection.close()
