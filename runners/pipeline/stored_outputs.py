"""Put a step's large output into object storage, before its result is recorded.

A step whose output cannot be stored fails as if its module had failed, and is tried again.
"""

from dataclasses import replace

from executions import payload_store, payloads
from executions.configuration import settings as valkyr_settings
from executions.database import connection
from executions.payload_store import writing
from runners.conf import pool
from runners.segment.state import SegmentState
from runners.segment.work import Done


def largest_output() -> int:
    """Return the largest JSON of an output, in bytes.

    A step that writes with its record keeps its output in the row: its transaction holds locks.
    """
    if not payload_store.enabled() or connection.in_atomic_block:
        return payloads.MAX_BYTES
    return valkyr_settings().payload_store_limit


def store(state: SegmentState, done: Done) -> Done:
    """Return the step with a reference in place of its output's text, if the output is large.

    The value stays in memory for the next steps, unless it is too large for templates. Raises
    PayloadStoreUnavailable, and the errors of sealing.
    """
    if not payload_store.enabled():
        return done
    settings = valkyr_settings()
    if len(done.outputs) <= settings.payload_store_above or connection.in_atomic_block:
        return done
    context, text, value = state.context, done.outputs, done.result.outputs
    workspace_id = context.version.workspace_id
    row = writing.note(workspace_id, context.execution_id, text, context.sealer.key)
    release_connection()
    writing.write(workspace_id, row, text)
    writing.written(row)
    release_connection()
    reference = writing.refer(row, value)
    done.outputs, done.stored = payloads.dump(reference, "reference to the output"), True
    if row.size > settings.payload_load_limit:
        done.result = replace(done.result, outputs=reference)
    else:
        state.data.stored[id(value)] = (value, reference)
    return done


def release_connection() -> None:
    """Give a thread's connection back to the pool while the thread waits for the store."""
    if pool() == "threads" and not connection.in_atomic_block:
        connection.close()
