"""The SQL statements of this plugin, which are read from `sql/` by name."""

from pathlib import Path

from executions.public.database import Statements

_own = Statements(Path(__file__).with_name("sql"))
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
