"""The SQL statements of limits, which are read from `sql/` by name."""

from pathlib import Path

from executions.public.database import Statements

_own = Statements(Path(__file__).with_name("sql"))
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
fetch_together, asked = _own.fetch_together, _own.asked
