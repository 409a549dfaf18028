"""The ports of this app: typed functions that apps above it provide."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from executions.ports import Port

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from runners.failures.classification import Failure
    from runners.models import Run
    from runners.segment.context import SegmentContext
    from runners.segment.state import SegmentState
    from runners.segment.work import LiveRun, Unit, Work

file_dead_letter: Port[[UUID, "Failure", bool, str | None], Any] = Port(
    "runners.ports.file_dead_letter", "dlq"
)
"""Write and return a run's dead letter, in the transaction that ends it; None for a test run.

The arguments: the run's ID, its failure, whether its attempts are used up, and a quarantine's
reason.
"""

record_costs: Port[["SegmentContext", "Work", "Unit"], None] = Port(
    "runners.ports.record_costs", "runners"
)
"""Record the costs of an attempt, as the last part of the transaction that records it. Optional."""

spent_by: Port[[Sequence[UUID]], Mapping[str, Decimal]] = Port("runners.ports.spent_by", "limits")
"""Return the total costs of these executions, by currency. Uses one query. Optional."""

run_isolated: Port[["SegmentState", "LiveRun"], bool] = Port(
    "runners.ports.run_isolated", "runners"
)
"""Run a suspect step in a separate process; return False if it may run in this process.

If no such process is free, the step is sent again later. Provided in workers.
"""

open_dead_letters: Port[[Sequence[UUID]], Mapping[UUID, UUID]] = Port(
    "runners.ports.open_dead_letters", "dlq"
)
"""Return the IDs of these runs' open dead letters, by run ID."""

trace_run: Port[[Callable[["SegmentState", "Work"], "Unit"], "SegmentState", "Work"], "Unit"] = (
    Port("runners.ports.trace_run", "telemetry")
)
"""Execute a claimed run with the given function, inside a span; return the unit. Optional."""

traceparents: Port[[Sequence["Run"]], Mapping[UUID, str]] = Port(
    "runners.ports.traceparents", "telemetry"
)
"""Return the `traceparent` for a remote runner's spans, by the ID of each leased run. Optional."""

trace_remote_run: Port[["SegmentState", "Work", "Unit", float], None] = Port(
    "runners.ports.trace_remote_run", "telemetry"
)
"""Create the span of a run that a remote runner reported, and that took the given milliseconds.

Called in the transaction that records the report. Optional.
"""

open_circuits: Port[[], "QuerySet[Any]"] = Port("runners.ports.open_circuits", "circuits")
"""Return the rows of the circuits that are not closed, in all workspaces. Optional."""
take_checkpoint: Port[[UUID, int, str], object] = Port(
    "runners.ports.take_checkpoint", "timetravel"
)
"""Take a checkpoint of an execution's variables; the caller holds the execution's lock.

The arguments are the execution's ID, the number of automatic checkpoints to keep, and the path of
the last step. Optional: without this port, no checkpoints are taken.
"""
