"""The SQL statements of circuits, which are read from `sql/` by name."""

from pathlib import Path

from executions.public.database import Statements

_own = Statements(Path(__file__).with_name("sql"))
statement, fetch = _own.text, _own.fetch
