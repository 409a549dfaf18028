"""Additions of plugins to the pages of dead letters and of failure groups.

Plugins register the additions when their `admin` module is imported.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from dlq.admin.entry import DeadLetterEntryAdmin
from dlq.admin.triage_list import TriageList
from dlq.models import FailureGroup
from executions.admin.sections import PageSection


@dataclass(frozen=True, slots=True)
class GroupLink:
    """A link for a failure group, shown in the group's row of the list and as a button on its page.

    `key` is its keyboard shortcut. `address` returns the link's URL, or "" if the user may not open
    it or has nothing to do there. `address` must make no query, because the list calls it for each
    row.
    """

    title: str
    icon: str
    key: str
    address: Callable[[HttpRequest, FailureGroup], str]


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link of one group, as one user sees it."""

    title: str
    icon: str
    key: str
    path: str


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """A panel above the facts of a failure group; a `live` panel is refreshed every two seconds."""

    section: PageSection
    live: bool


GROUP_LINKS: list[GroupLink] = []
# Functions that return a panel about a running change of a failure group, or None.
GROUP_PROGRESS: list[Callable[[HttpRequest, FailureGroup], GroupProgress | None]] = []
# Functions that return a panel for a failure group's page, with a bounded number of rows.
GROUP_SECTIONS: list[Callable[[HttpRequest, FailureGroup], PageSection]] = []


def links_of(request: HttpRequest, group: FailureGroup) -> list[ShownLink]:
    """Return those links of a group that the user may follow."""
    found = [(link, link.address(request, group)) for link in GROUP_LINKS]
    return [ShownLink(link.title, link.icon, link.key, path) for link, path in found if path]


def progress_of(request: HttpRequest, group: FailureGroup) -> list[GroupProgress]:
    """Return a group's panels about operations that are running or ended recently."""
    found = (make(request, group) for make in GROUP_PROGRESS)
    return [panel for panel in found if panel is not None]


def add_entry_action(name: str, action: Callable[..., HttpResponse | None], **marks: Any) -> None:
    """Add an action on selected dead letters, with the arguments of `add_action` except `admin`."""
    add_action(DeadLetterEntryAdmin, name, action, **marks)


def add_action(
    admin: type[TriageList], name: str, action: Callable[..., HttpResponse | None], **marks: Any
) -> None:
    """Add an action on selected rows of a list.

    `action` is called with the admin, the request and the selected rows. `marks` are attributes
    that Django and Unfold read, such as `short_description` and `allowed_permissions`.
    """
    action.__dict__.update(marks)
    setattr(admin, name, action)
    admin.actions = (*(admin.actions or ()), name)
