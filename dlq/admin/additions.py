"""Plugins' additions to the pages of dead letters and of failure groups.

Plugins add them when their `admin` module is imported.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from dlq.admin.entry import DeadLetterEntryAdmin
from dlq.models import FailureGroup
from executions.admin.sections import PageSection


@dataclass(frozen=True, slots=True)
class GroupLink:
    """A link of a failure group, in its row of the list and as a button of its page.

    `key` is its keyboard shortcut. `address` returns its URL, or "" if the user may not open it or
    nothing is to be done; it makes no query, because each row of a list calls it.
    """

    title: str
    icon: str
    key: str
    address: Callable[[HttpRequest, FailureGroup], str]


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link of one group for one user."""

    title: str
    icon: str
    key: str
    path: str


GROUP_LINKS: list[GroupLink] = []
# Each makes a panel of the page of a failure group, of a bounded number of rows.
GROUP_SECTIONS: list[Callable[[HttpRequest, FailureGroup], PageSection]] = []


def links_of(request: HttpRequest, group: FailureGroup) -> list[ShownLink]:
    """Return the links of a group that a user may follow."""
    found = [(link, link.address(request, group)) for link in GROUP_LINKS]
    return [ShownLink(link.title, link.icon, link.key, path) for link, path in found if path]


def add_entry_action(name: str, action: Callable[..., HttpResponse | None], **marks: Any) -> None:
    """Add an action on selected dead letters.

    Called with the admin, the request and the selected rows. `marks` are the attributes that Django
    and Unfold read: `short_description`, `allowed_permissions`.
    """
    action.__dict__.update(marks)
    setattr(DeadLetterEntryAdmin, name, action)
    DeadLetterEntryAdmin.actions = (*(DeadLetterEntryAdmin.actions or ()), name)
