"""What plugins add to the pages of dead letters and of failure groups.

Plugins add when their `admin` module is imported.
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
    """A link from a failure group, in its row of the list and as a button of its page.

    `key` follows it by keyboard. `address` returns where it leads, or "" where the person may not
    go there or nothing is to be done; it makes no query, since each row of a list calls it.
    """

    title: str
    icon: str
    key: str
    address: Callable[[HttpRequest, FailureGroup], str]


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link of one group, for one person."""

    title: str
    icon: str
    key: str
    path: str


GROUP_LINKS: list[GroupLink] = []
# Each makes a panel of the page of a failure group, of a bounded number of rows.
GROUP_SECTIONS: list[Callable[[HttpRequest, FailureGroup], PageSection]] = []


def links_of(request: HttpRequest, group: FailureGroup) -> list[ShownLink]:
    """The links that a person can follow from a group."""
    found = [(link, link.address(request, group)) for link in GROUP_LINKS]
    return [ShownLink(link.title, link.icon, link.key, path) for link, path in found if path]


def add_entry_action(name: str, action: Callable[..., HttpResponse | None], **marks: Any) -> None:
    """Offer an action on ticked dead letters.

    Called with the admin, the request and the chosen rows. `marks` are what Django and Unfold read
    of an action: `short_description`, `allowed_permissions`.
    """
    action.__dict__.update(marks)
    setattr(DeadLetterEntryAdmin, name, action)
    DeadLetterEntryAdmin.actions = (*(DeadLetterEntryAdmin.actions or ()), name)
