"""About how much room rows take: a table's size, indexes and all, by PostgreSQL's last count."""

from django.db import connection, models

from dlq.models import DeadLetterEntry
from dlq.retention import aged
from dlq.retention.tally import PruningTally
from executions.models import WorkflowExecution, WorkflowVersion
from runners.models import Run

MODELS: dict[str, type[models.Model]] = {
    "dead letters": DeadLetterEntry,
    "executions": WorkflowExecution,
    "tests": WorkflowVersion,
    "runs": Run,
}
# Without a count (never analysed) nothing can be said: the smallest row there is.
SIZE = """
SELECT pg_total_relation_size(oid)
       / greatest(reltuples, pg_relation_size(oid) / 8192, 1)::float8
  FROM pg_class WHERE oid = %s::regclass
"""


def weigh(tally: PruningTally) -> int:
    """Bytes, about; 0 for what leaves its rows where they are (logs)."""
    counts = {tally.kind: tally.rows, **tally.parts}
    return round(sum(_each(kind) * number for kind, number in counts.items() if number))


def _each(kind: str) -> float:
    model = aged.KINDS[kind].model if kind in aged.KINDS else MODELS.get(kind)
    if model is None:
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute(SIZE, [model._meta.db_table])
        row = cursor.fetchone()
    return float(row[0]) if row else 0.0
