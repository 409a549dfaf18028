"""Links between the pages of the admin."""

from typing import Any
from urllib.parse import urlencode

from django.utils.html import format_html
from django.utils.safestring import SafeString

from executions.addresses import admin


def page(model: str, pk: Any) -> str:
    """Return the URL of one object's page; `model` is `app_model`, in lower case."""
    return admin(f"{model}_change", pk)


def listing(model: str, **filters: Any) -> str:
    """Return the URL of a list, with the filters as its query; `model` is `app_model`."""
    address = admin(f"{model}_changelist")
    return f"{address}?{urlencode(filters)}" if filters else address


def link(address: str, text: Any) -> SafeString:
    """Return a link in the pages' style; its text is escaped."""
    return format_html('<a class="vk-link" href="{}">{}</a>', address, text)


def to(model: str, pk: Any, text: Any) -> SafeString:
    """Return a link to one object's page."""
    return link(page(model, pk), text)
