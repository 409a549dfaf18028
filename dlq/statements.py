"""The hand-written SQL statements of this app, by name, from `sql/`."""

from pathlib import Path

from executions.database.statements import Statements

_own = Statements(Path(__file__).with_name("sql"))
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
