"""Where one goes on from groups: to a new redrive of all their open entries."""

from collections.abc import Iterable
from urllib.parse import urlencode
from uuid import UUID

from django.urls import Resolver404, resolve

NEW_REDRIVE = "/admin/dlq/redrive/new/"


def redrive_address(group_ids: Iterable[UUID]) -> str:
    """The page that plans a redrive of these groups; empty where there is no such page."""
    try:
        resolve(NEW_REDRIVE)
    except Resolver404:
        return ""
    return f"{NEW_REDRIVE}?{urlencode([('group', str(pk)) for pk in group_ids])}"
