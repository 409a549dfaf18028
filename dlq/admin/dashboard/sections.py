"""Tables that plugins add to the home page, and to the page of a workflow's figures."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest

from executions.admin.sections import Cell
from executions.models import Workflow

Column = Literal["failures", "work"]


@dataclass(frozen=True, slots=True)
class HomeSection:
    """A table of the home page, by a name that no other has.

    `gather` reads what the request's user may see, in a bounded number of rows and queries. What
    it returns is pickled into the cache for 15 seconds, and shared by users with the same
    workspaces, workflows and right to configure. `rows` makes the table's cells of it; it is not
    called when the database did not answer in time.
    """

    name: str
    title: str
    headers: tuple[str, ...]
    empty: str
    gather: Callable[[HttpRequest], Any]
    rows: Callable[[Any], list[list[Cell]]]
    column: Column = "work"


SECTIONS: dict[str, HomeSection] = {}


def add_section(section: HomeSection) -> None:
    """Show a table on the home page. Plugins call it when their `admin` module is imported.

    Raises ValueError if another section has its name.
    """
    if SECTIONS.setdefault(section.name, section) is not section:
        raise ValueError(
            f"The home page has a section {section.name!r} already. Choose another name."
        )


@dataclass(frozen=True, slots=True)
class WorkflowSection:
    """A table of the page of a workflow's figures, which the plugin `figures` has.

    `gather` reads what the table shows of a workflow since a time, in a bounded number of rows and
    queries; everybody who may see the workflow sees it. `rows` makes the table's cells of it; it is
    not called when the database did not answer in time.
    """

    title: str
    headers: tuple[str, ...]
    empty: str
    gather: Callable[[Workflow, datetime], Any]
    rows: Callable[[Any], list[list[Cell]]]


WORKFLOW_SECTIONS: list[WorkflowSection] = []
