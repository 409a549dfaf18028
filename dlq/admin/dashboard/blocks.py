"""Blocks (problems, cards, banners and HTML) and tables that plugins add to the home page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.admin.sections import Cell
from executions.models import Workflow

NOTHING = SafeString("")


@dataclass(frozen=True, slots=True)
class Banner:
    """A sentence about a problem, and the command, if any, that solves it.

    An `urgent` banner is red.
    """

    text: str
    command: str = ""
    urgent: bool = True


@dataclass(frozen=True, slots=True)
class HomeProblem:
    """A problem that needs attention now: a sentence without a full stop, and the URL of its page.

    `note` adds a detail, such as how long the problem has lasted.
    """

    text: str
    icon: str
    address: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A figure with a link to its list; `number` is None if the figure is not available."""

    title: str
    icon: str
    number: int | None
    note: str
    address: str
    bounded: bool = False

    @property
    def shown(self) -> str:
        """Return the figure, with "+" if the count reached its limit; "not available" for None."""
        if self.number is None:
            return gettext("not available")
        more = "+" if self.bounded else ""
        return f"{self.number:,}{more}"


@dataclass(frozen=True, slots=True)
class BlockView:
    """The content of a block; `above` and `below` are HTML above and below the cards."""

    problems: Sequence[HomeProblem] = ()
    cards: Sequence[Card] = ()
    banners: Sequence[Banner] = ()
    above: SafeString = NOTHING
    below: SafeString = NOTHING


@dataclass(frozen=True, slots=True)
class HomeBlock:
    """A block of the home page, with a unique name.

    `gather` reads data that the request's user may see, with a bounded number of rows and queries.
    Its result is pickled into the cache for 15 seconds, and shared by users with the same
    permissions. `variant` returns a key for everything else on which the result depends. `show`
    receives the result, or None if the database did not answer in time.
    """

    name: str
    variant: Callable[[HttpRequest], str]
    gather: Callable[[HttpRequest], Any]
    show: Callable[[HttpRequest, Any], BlockView]


BLOCKS: dict[str, HomeBlock] = {}


def add_block(block: HomeBlock) -> None:
    """Add a block to the home page. Plugins call this when their `admin` module is imported.

    Raises ValueError if another block has its name.
    """
    if BLOCKS.setdefault(block.name, block) is not block:
        raise ValueError(f"The home page has a block {block.name!r} already. Choose another name.")


# Tables that plugins add to the home page, and to the page of a workflow's figures.


Column = Literal["failures", "work"]


@dataclass(frozen=True, slots=True)
class HomeSection:
    """A table of the home page, with a unique name; a table without rows is not shown.

    `gather` reads data that the request's user may see, with a bounded number of rows and queries.
    Its result is pickled into the cache for 15 seconds, and shared by users with the same
    permissions. `rows` converts the result to the table's cells; it is not called if the database
    did not answer in time. `problem`, if given, converts the number of rows to a `HomeProblem`.
    """

    name: str
    title: str
    headers: tuple[str, ...]
    gather: Callable[[HttpRequest], Any]
    rows: Callable[[Any], list[list[Cell]]]
    column: Column = "work"
    problem: Callable[[int], HomeProblem] | None = None


SECTIONS: dict[str, HomeSection] = {}


def add_section(section: HomeSection) -> None:
    """Add a table to the home page. Plugins call this when their `admin` module is imported.

    Raises ValueError if another section has its name.
    """
    if SECTIONS.setdefault(section.name, section) is not section:
        raise ValueError(
            f"The home page has a section {section.name!r} already. Choose another name."
        )


@dataclass(frozen=True, slots=True)
class WorkflowSection:
    """A table on the page of a workflow's figures (plugin `figures`).

    `gather` reads a workflow's data since a given time, with a bounded number of rows and queries,
    for all users who may see the workflow. `rows` converts the data to the table's cells; it is not
    called if the database did not answer in time.
    """

    title: str
    headers: tuple[str, ...]
    empty: str
    gather: Callable[[Workflow, datetime], Any]
    rows: Callable[[Any], list[list[Cell]]]


WORKFLOW_SECTIONS: list[WorkflowSection] = []
