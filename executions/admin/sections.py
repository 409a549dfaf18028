"""The parts of a read-only page: a headline, facts, and sections below them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions import addresses
from executions.admin.marks import EMPTY
from executions.admin.values import as_json, preformatted
from executions.language import lazy
from executions.payload_store.references import facts as facts_of
from executions.payloads import STORED, references_in

Cell = SafeString | str
# Maximum number of links to stored values in one panel.
MOST_LINKS = 20
# Shown in place of payloads to users who may not see them.
HIDDEN = lazy("Hidden. You need the permission view_payloads.")


@dataclass(frozen=True, slots=True)
class PageFact:
    """A labelled value; if `wide`, the value fills the whole line."""

    label: str
    value: Cell
    wide: bool = False


@dataclass(frozen=True, slots=True)
class PageSection:
    """A titled panel with a table (headers and rows) or a body; a folded panel opens on demand."""

    title: str
    body: Cell = ""
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    empty: str = ""
    folded: bool = False
    error: bool = False
    more: Cell = ""

    @property
    def labelled(self) -> list[list[tuple[str, Cell]]]:
        """Return each row's cells with the headers of their columns, which narrow windows show."""
        return [list(zip_longest(self.headers, row, fillvalue="")) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page; `lead` contains introductory sentences or marks.

    `top` precedes everything, and `first` contains the sections above the facts. Without a `title`,
    the object's own text is the title. `refresh` is the number of seconds after which the browser
    reloads the page's content: 0 once the object no longer changes, None if it never reloads.
    """

    lead: Sequence[Cell]
    facts: Sequence[PageFact]
    sections: Sequence[PageSection] = field(default_factory=tuple)
    title: str = ""
    first: Sequence[PageSection] = ()
    top: Cell = ""
    refresh: int | None = None


def json_section(title: str, value: Any, *, folded: bool = True) -> PageSection:
    """Return a panel with a JSON value, or with a note that nothing is stored."""
    if value is None:
        return PageSection(title, body=gettext("No value."), folded=folded)
    return PageSection(title, body=as_json(value), folded=folded)


def payload_section(
    title: str,
    value: Any,
    *,
    shown: bool,
    folded: bool = True,
    download: Any = None,
) -> PageSection:
    """Return a panel with a payload, or with a note that names the permission to see it.

    `download` is the ID of the execution; with it, the panel links to the stored values in the
    payload.
    """
    if not shown:
        return hidden_section(title, folded)
    section = json_section(title, value, folded=folded)
    links: Sequence[Any] = [] if download is None else _downloads(value, download)
    return replace(section, more=format_html_join(" ", "{}", links)) if links else section


def _downloads(value: Any, execution_id: Any) -> list[tuple[Cell]]:
    """Return links to the stored values in a payload, at most MOST_LINKS, each in a tuple."""
    found: dict[str, Any] = {}
    for reference in references_in(value):
        if facts_of(reference) is not None:
            found.setdefault(reference[STORED], reference)
        if len(found) == MOST_LINKS:
            break
    links: list[tuple[Cell]] = []
    for stored_id, reference in found.items():
        text = gettext("Download ({size} bytes)").format(size=f"{reference.get('bytes', 0):,}")
        address = addresses.api("execution-stored", id=execution_id, storedId=stored_id)
        links.append((format_html('<a href="{}">{}</a>', address, text),))
    return links


def hidden_section(title: str, folded: bool = True) -> PageSection:
    """Return a panel in place of a payload that the user may not see."""
    return PageSection(title, body=HIDDEN, folded=folded)


def text_section(
    title: str, text: str, *, folded: bool = False, error: bool = False
) -> PageSection:
    """Return a panel with preformatted text; `error` marks the panel as an error."""
    return PageSection(title, body=preformatted(text), folded=folded, error=error)


def facts(pairs: Iterable[tuple[str, Any]]) -> list[PageFact]:
    """Return facts from (label, value) pairs, without values that are empty or a dash."""
    return [PageFact(label, value) for label, value in pairs if value not in (None, "", EMPTY)]
