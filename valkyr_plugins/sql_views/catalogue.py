"""The views and their columns, read from `views/<name>.sql`. BI tools can rely on them.

The first comment of a file describes the view. Each column has a comment above it. `{allowed}`
stands for the workspaces that the role can read.

A view has no payload, no secret, no error text and no account name. Columns that a workspace can
seal are omitted, whether it seals them or not. Labels are included, because all users who can see
an execution see its labels. Columns are renamed or removed only with a note in the changelog.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.apps import apps

from executions.public.database import Statements

FOLDER = Path(__file__).with_name("views")
COMMENT = "-- "
# In the order in which the views are listed and created.
ENGINE = (
    "workspaces", "workflows", "versions", "executions", "steps", "dead_letters",
    "dead_letter_groups", "schedules",
)  # fmt: skip
# For each view that reads tables of a plugin: the plugin.
PLUGINS = {"redrives": "valkyr_plugins.redrive"}

text = Statements(FOLDER).text


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column: its name and its description."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class SqlView:
    """A view: `query` is its SELECT, in which `{allowed}` stands for the workspaces."""

    name: str
    about: str
    query: str
    columns: tuple[ViewColumn, ...]


def views() -> list[SqlView]:
    """Return the views of this installation; the view of redrives needs the plugin `redrive`."""
    installed = (name for name, plugin in PLUGINS.items() if apps.is_installed(plugin))
    return [_view(name) for name in (*ENGINE, *installed)]


def described(chosen: Iterable[SqlView]) -> list[dict[str, object]]:
    """Return the views and their columns as objects for JSON output."""
    return [
        {
            "view": view.name,
            "about": view.about,
            "columns": [{"name": one.name, "about": one.about} for one in view.columns],
        }
        for view in chosen
    ]


@cache
def _view(name: str) -> SqlView:
    first, *rest = map(str.strip, (FOLDER / f"{name}.sql").read_text().splitlines())
    return SqlView(name, first.removeprefix(COMMENT), text(name), tuple(_columns(rest)))


def _columns(lines: list[str]) -> Iterator[ViewColumn]:
    """Yield the columns; the last word of a column's SQL is its name: `w.slug AS workflow`."""
    for comment, column in pairwise(lines):
        if comment.startswith(COMMENT):
            name = column.rstrip(",").split()[-1].rpartition(".")[2]
            yield ViewColumn(name, comment.removeprefix(COMMENT))
