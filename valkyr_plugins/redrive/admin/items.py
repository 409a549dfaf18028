"""What became of each entry of a redrive: counts with a bar, and the newest rows of one state."""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from executions.public.admin import PageSection, links, marks
from valkyr_plugins.redrive.models import Redrive, RedriveItem
from valkyr_plugins.redrive.progress import progress
from valkyr_plugins.redrive.states import ItemState

SHOWN = 100
MARKS: dict[str, tuple[str, str]] = {
    "QUEUED": ("radio_button_unchecked", "grey"),
    "RUNNING": ("clock_loader_40", "blue"),
    "SUCCEEDED": ("check_circle", "green"),
    "FAILED_AGAIN": ("cancel", "red"),
    "SKIPPED": ("skip_next", "grey"),
    "ABORTED": ("do_not_disturb_on", "grey"),
}
HEADERS = ("Entry", "State", "Sent", "Ended", "Runs as", "Why")


def item_mark(state: str) -> SafeString:
    """An item's state as word, icon and colour."""
    icon, colour = MARKS[state]
    return marks.mark(str(ItemState(state).label), icon, colour)


def bar(redrive: Redrive) -> SafeString:
    """How much of it has ended, as a bar and in words."""
    done = redrive.succeeded + redrive.failed_again + redrive.skipped
    return format_html(
        '<progress class="vk-bar" max="{}" value="{}" aria-label="ended"></progress>'
        '<span class="vk-nowrap">{} of {}</span>',
        max(1, redrive.total),
        done,
        f"{done:,}",
        f"{redrive.total:,}",
    )


def counts(redrive: Redrive) -> PageSection:
    """How many are in which state, each a link to those; pace and time left."""
    now = progress(redrive)
    rows = [
        ("QUEUED", now.queued),
        ("RUNNING", now.running),
        ("SUCCEEDED", now.succeeded),
        ("FAILED_AGAIN", now.failed_again),
        ("SKIPPED", now.skipped),
        ("ABORTED", now.aborted),
    ]
    return PageSection(
        "Progress",
        headers=("State", "Entries"),
        rows=[
            [links.link(f"?items={state}", item_mark(state)), f"{count:,}"]
            for state, count in rows
            if count or state in ("SUCCEEDED", "FAILED_AGAIN")
        ],
        more=_pace(now.rate, now.seconds_left),
    )


def chosen(request: HttpRequest, redrive: Redrive) -> PageSection:
    """The newest items, of one state where the address names it."""
    state = request.GET.get("items", "")
    rows = RedriveItem.objects.filter(redrive=redrive).select_related("entry", "again")
    if state in ItemState.values:
        rows = rows.filter(state=state)
    found = rows.defer(
        "entry__original_inputs",
        "entry__original_config",
        "again__original_inputs",
        "again__original_config",
    ).order_by("-pk")[:SHOWN]
    word = f": {ItemState(state).label}" if state in ItemState.values else ""
    return PageSection(
        f"Entries{word}",
        headers=HEADERS,
        rows=[_row(item) for item in found],
        empty="None.",
        more=f"The last {SHOWN} are shown; the API lists all." if redrive.total > SHOWN else "",
    )


def _row(item: RedriveItem) -> list[Any]:
    return [
        links.to("dlq_deadletterentry", item.entry_id, marks.path(item.entry.step_path)),
        item_mark(item.state),
        marks.ago(item.sent_at),
        marks.ago(item.ended_at),
        _runs_as(item),
        _why(item),
    ]


def _runs_as(item: RedriveItem) -> SafeString | str:
    parts = []
    if item.run_id:
        parts.append(links.to("runners_run", item.run_id, "run"))
    if item.execution_id:
        parts.append(links.to("executions_workflowexecution", item.execution_id, "execution"))
    return format_html_join(" ", "{}", ((part,) for part in parts)) or marks.EMPTY


def _why(item: RedriveItem) -> SafeString | str:
    if item.again is not None:
        text = marks.clipped(item.again.failure_reason)
        return links.to("dlq_deadletterentry", item.again.pk, text)
    return marks.clipped(item.reason) or marks.EMPTY


def _pace(rate: float, left: float | None) -> str:
    if not rate:
        return ""
    rest = "" if left is None else f", about {marks.took(left * 1_000)} left"
    return f"{rate:g} a second{rest}."
