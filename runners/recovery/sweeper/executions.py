"""Handle executions that stalled, passed their deadline, or missed the end of a parent or child."""

import logging
from uuid import UUID

from executions import lifecycle
from runners import statements
from runners.containers import child_executions as children
from runners.planning import compensation, plan_execution
from runners.recovery.duties import each

log = logging.getLogger(__name__)
STALLED_BATCH = 100
LOOKED_AT = 5_000
START = (UUID(int=0), UUID(int=0))


class LookedThrough:
    """The workspace and the execution after which the next scan begins.

    Each scan covers at most 5,000 executions.
    """

    place = START


def stalled_executions() -> int:
    """Plan at most 100 stalled executions among the next 5,000 running ones; return how many."""
    workspace, after = LookedThrough.place
    asked = {"workspace": workspace, "after": after, "most": LOOKED_AT}
    found = statements.fetch("stalled_executions", asked)
    stalled = [pk for _, pk, is_stalled, _ in found if is_stalled]
    if len(stalled) <= STALLED_BATCH:  # otherwise the next sweep starts from the same place
        LookedThrough.place = next(
            ((first, pk) for first, pk, _, is_last in found if is_last), START
        )
    count = 0
    for execution_id in stalled[:STALLED_BATCH]:
        log.warning("execution %s had nothing in flight; planning it", execution_id)
        count += each(f"stalled execution {execution_id}", plan_execution.advance, execution_id)
    return count


# Regularly plan executions that have a long-running step.
#
# If a chord's body is lost while another step of the execution runs, no other duty checks the join
# before that step ends.


JOINS_BATCH = 50


def unplanned_joins() -> int:
    """Plan random executions with long-running steps; return how many started a step or ended."""
    found = statements.fetch("long_running", {"batch": JOINS_BATCH})
    return sum(
        each(f"execution {execution_id}", plan_execution.catch_up, execution_id)
        for (execution_id,) in found
    )


# End executions with TIMEOUT when their deadline has passed.


OVERDUE_BATCH = 100


def overdue_executions() -> int:
    """Time out executions whose deadline has passed; return how many."""
    found = statements.fetch("executions_past_deadline", {"batch": OVERDUE_BATCH})
    return sum(
        each(f"overdue execution {execution_id}", lifecycle.time_out, execution_id)
        for (execution_id,) in found
    )


# Begin the undo steps of executions whose running steps have now ended.


UNDO_BATCH = 100


def compensations() -> int:
    """Begin the compensations that no running step or child delays; return how many."""
    return sum(
        each(f"execution {execution_id}", plan_execution.advance, execution_id)
        for execution_id in compensation.waiting(UNDO_BATCH)
    )


# End live runs of ended executions, which should not exist.

LEFTOVERS_BATCH = 100


def leftover_runs() -> int:
    """End live runs of ended executions; return how many executions had such runs."""
    found = statements.fetch("ended_with_live_runs", {"batch": LEFTOVERS_BATCH})
    for (execution_id,) in found:
        log.error("execution %s has ended, but has live runs; ending them", execution_id)
        statements.fetch("cancel_live_runs", {"execution": execution_id, "spared": []})
    return len(found)


# Parents and children that missed the notification of the other's end.


CHILDREN_BATCH = 200


def child_executions() -> int:
    """Wake runs whose child has ended, and cancel abandoned children; return the total number."""
    return _ended() + _abandoned()


def _ended() -> int:
    found = statements.fetch("ended_children", {"batch": CHILDREN_BATCH})
    return sum(each(f"ended child {child}", children.wake_parent, child) for (child,) in found)


def _abandoned() -> int:
    return sum(
        each(f"abandoned child {child}", children.cancel, child, parent)
        for child, parent in children.abandoned()[:CHILDREN_BATCH]
    )
