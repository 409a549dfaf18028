"""The frequent SQL statements about runs, loaded from `sql/` and keyed by name.

A statement about one run also names the run's execution, so that PostgreSQL opens only one
partition of a partitioned table (docs/explanation/scaling.md). With `execution_id = x` alone, the
planner could choose an index of the execution's runs on a small table. It could keep that plan
while an execution grows to thousands of runs. No single index scan can answer `execution_id = x OR
execution_id BETWEEN x AND x`, so the planner keeps using the key of the run.

Statements that run often name the partition itself: `--! one partition: execution`.
"""

from pathlib import Path

from executions.database.statements import Statements

_own = Statements(Path(__file__).with_name("sql"))
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
fetch_together, asked = _own.fetch_together, _own.asked
