"""The statements of this plugin, by name, from `sql/`."""

from pathlib import Path

from executions.public.database import Statements

_own = Statements(Path(__file__).with_name("sql"))
fetch, fetch_one = _own.fetch, _own.fetch_one
