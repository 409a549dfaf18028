"""Links from a failure to its execution, run, group and trace, and to Flower and Sentry."""

from typing import Any
from urllib.parse import quote

from django.urls import NoReverseMatch
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dlq.conf import sentry_template
from dlq.models import DeadLetterEntry
from executions.admin import links
from executions.admin.marks import filled, trace
from executions.configuration import settings as valkyr_settings


def entry_links(entry: DeadLetterEntry) -> SafeString:
    """Return a row of links, without links to pages that this installation does not have."""
    every = [
        (gettext("Execution"), "play_circle", execution_page(entry)),
        (gettext("Run"), "list_alt", page("runners_run", entry.run_id)),
        (gettext("Failure group"), "stacks", page("dlq_failuregroup", entry.group_id)),
        (gettext("Trace"), "timeline", trace(entry.execution.trace_id)),
        ("Flower", "local_florist", flower(entry)),
        ("Sentry", "bug_report", filled(sentry_template(), "execution_id", entry.execution_id)),
    ]
    found = [(address, icon, name) for name, icon, address in every if address]
    return format_html(
        '<nav class="vk-whereabouts" aria-label="Elsewhere">{}</nav>',
        format_html_join(
            "",
            '<a class="vk-button" href="{}"><span class="material-symbols-outlined" '
            'aria-hidden="true">{}</span>{}</a>',
            found,
        ),
    )


def page(model: str, pk: Any) -> str:
    """Return the URL of an object's admin page; "" if the model has no admin."""
    try:
        return links.page(model, pk)
    except NoReverseMatch:
        return ""


def execution_page(entry: DeadLetterEntry) -> str:
    """Return the execution page's URL with the failed run selected; "" if there is no such page."""
    address = page("executions_workflowexecution", entry.execution_id)
    return f"{address}?run={entry.run_id}" if address else ""


def flower(entry: DeadLetterEntry) -> str:
    """Return the URL of Flower's list of the execution's tasks; "" without VALKYR_FLOWER_URL.

    Flower searches for the words in the parameter `name`. The second word here matches tasks that
    have the execution's ID among their arguments.
    """
    place = valkyr_settings().flower_url.rstrip("/")
    if not place:
        return ""
    terms = quote(f"runners. args:{entry.execution_id}", safe="")
    return f"{place}/tasks?name={terms}"
