"""Row numbers that differ between cells, so that rows keep them when a workspace moves.

IDs are UUIDs, but some tables number their rows. In a cell, their sequences begin after the cell's
number times 2³⁶; those of the first database begin with 1.
"""

from typing import Any

from django.apps import apps
from django.db import connections
from django.db.models.signals import post_migrate

from executions.database import cells, routing

SHIFT = 36
SEQUENCES = """
SELECT s.seqrelid::regclass::text
  FROM pg_sequence s
  JOIN pg_depend d ON d.objid = s.seqrelid AND d.deptype IN ('a', 'i')
   AND d.classid = 'pg_class'::regclass
  JOIN pg_class c ON c.oid = d.refobjid
 WHERE c.relname = ANY(%s) AND pg_table_is_visible(c.oid) AND s.seqmax > %s
   AND coalesce(pg_sequence_last_value(s.seqrelid), 0) < %s
"""


def connect(app: Any) -> None:
    """After each `migrate` of a cell's database, set the sequences of new tables."""
    post_migrate.connect(_after, sender=app, dispatch_uid=__name__)


def first_number(cell: str) -> int:
    """Return the number that precedes a cell's row numbers; 0 for the first database."""
    return (cells.number_of(cell) or 1) << SHIFT if cell else 0


def _after(using: str, **_: Any) -> None:
    if using in routing.aliases() and (cell := routing.cell_of(using)):
        separate(using, first_number(cell))


def separate(using: str, after: int) -> None:
    """Advance the sequences of Valkyr's tables to this number, unless they have reached it."""
    with connections[using].cursor() as cursor:
        cursor.execute(SEQUENCES, [_tables(), after, after])
        for (sequence,) in cursor.fetchall():
            cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, after])


def _tables() -> list[str]:
    return [one._meta.db_table for one in apps.get_models() if routing.is_ours(one)]
