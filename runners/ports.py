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
"""Write the dead letter of a run, in the transaction that ends it; return it, or None for a test.

Called with the run, its failure, whether its attempts are used up, and the reason of a quarantine.
"""

record_costs: Port[["SegmentContext", "Work", "Unit"], None] = Port(
    "runners.ports.record_costs", "runners"
)
"""Count the costs of an attempt; called last in the transaction that records the attempt. Optional.
"""

spent_by: Port[[Sequence[UUID]], Mapping[str, Decimal]] = Port("runners.ports.spent_by", "limits")
"""Return the total costs of these executions, by currency, with one query. Optional."""

run_isolated: Port[["SegmentState", "LiveRun"], bool] = Port(
    "runners.ports.run_isolated", "runners"
)
"""Run a suspect step in a process of its own, or send it later; False where it may run here.

Provided in workers.
"""

open_dead_letters: Port[[Sequence[UUID]], Mapping[UUID, UUID]] = Port(
    "runners.ports.open_dead_letters", "dlq"
)
"""Return the IDs of the open dead letters of dead runs, by run ID."""

trace_run: Port[[Callable[["SegmentState", "Work"], "Unit"], "SegmentState", "Work"], "Unit"] = (
    Port("runners.ports.trace_run", "telemetry")
)
"""Perform a claimed run, by the function given, inside a span. Optional."""

traceparents: Port[[Sequence["Run"]], Mapping[UUID, str]] = Port(
    "runners.ports.traceparents", "telemetry"
)
"""Return the `traceparent` that a remote runner is given with each leased run, by run. Optional."""

trace_remote_run: Port[["SegmentState", "Work", "Unit", float], None] = Port(
    "runners.ports.trace_remote_run", "telemetry"
)
"""Tell the span of a run that a remote runner reported, with the milliseconds that it took.

Called in the transaction that records the report. Optional.
"""

open_circuits: Port[[], "QuerySet[Any]"] = Port("runners.ports.open_circuits", "circuits")
"""Return the circuits that are not closed: rows, each of a workspace. Optional."""
take_checkpoint: Port[[UUID, int, str], object] = Port(
    "runners.ports.take_checkpoint", "timetravel"
)
"""Keep the variables of an execution as they are now, whose lock the caller holds.

Called with how many automatic checkpoints to keep, and the path of the step it is taken after.
Optional: nothing is counted or kept without it.
"""
