"""Access to Valkyr's database: transactions, statements, locks, time limits and the clock."""

from executions import replica
from executions.database import alias, connection, transaction
from executions.database.accounts import cascade, set_null
from executions.database.advisory_locks import AdvisoryLock, alone, hold
from executions.database.by_state import in_states
from executions.database.cells import turn_to_id
from executions.database.clock import ClockTimestamp, database_now, first_id_at
from executions.database.connections import REPLICA
from executions.database.ids import uuid7
from executions.database.postgres_types import ArrayField
from executions.database.routing import cell
from executions.database.statements import Statements
from executions.database.stepping_aside import step_aside
from executions.database.threads import in_a_thread
from executions.database.time_limits import hurried, is_locked, soon
from executions.vendor_seams.django_deletion import delete_without_cascade

__all__ = [
    "REPLICA",
    "AdvisoryLock",
    "ArrayField",
    "ClockTimestamp",
    "Statements",
    "alias",
    "alone",
    "cascade",
    "cell",
    "connection",
    "database_now",
    "delete_without_cascade",
    "first_id_at",
    "hold",
    "hurried",
    "in_a_thread",
    "in_states",
    "is_locked",
    "replica",
    "set_null",
    "soon",
    "step_aside",
    "transaction",
    "turn_to_id",
    "uuid7",
]
