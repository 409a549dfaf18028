"""The panels of a redrive's page: the progress with a bar, the newest items, and the preview."""

import json
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from executions.public.admin import PageSection, as_json, hidden_section, links, marks, masked, may
from executions.public.errors import ValkyrError
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.redrive.items import held_by
from valkyr_plugins.redrive.models import (
    ItemState,
    Redrive,
    RedriveItem,
    RedriveScope,
    RedriveState,
)
from valkyr_plugins.redrive.preview import Preview, preview
from valkyr_plugins.redrive.progress import progress

SHOWN = 25
MARKS: dict[str, tuple[str, str]] = {
    "QUEUED": ("radio_button_unchecked", "grey"),
    "RUNNING": ("clock_loader_40", "blue"),
    "SUCCEEDED": ("check_circle", "green"),
    "FAILED_AGAIN": ("cancel", "red"),
    "SKIPPED": ("skip_next", "grey"),
    "ABORTED": ("do_not_disturb_on", "grey"),
}
STATES: dict[str, tuple[str, str]] = {
    "DRAFT": ("edit_note", "grey"),
    "RUNNING": ("clock_loader_40", "blue"),
    "PAUSED": ("pause_circle", "amber"),
    "STOPPED": ("back_hand", "red"),
    "DONE": ("check_circle", "green"),
    "ABORTED": ("do_not_disturb_on", "grey"),
}
HEADERS = (
    lazy("Dead letter"),
    lazy("State"),
    lazy("Sent"),
    lazy("Ended"),
    lazy("Run, execution"),
    lazy("Reason"),
)


def item_mark(state: str) -> SafeString:
    """Return an item's state as a word, an icon and a colour."""
    icon, colour = MARKS[state]
    return marks.mark(str(ItemState(state).label), icon, colour)


def state_mark(redrive: Redrive) -> SafeString:
    """Return a redrive's state as a word, an icon and a colour."""
    icon, colour = STATES[redrive.state]
    return marks.mark(str(RedriveState(redrive.state).label), icon, colour)


def sentence(redrive: Redrive) -> str:
    """Return a redrive's progress as one or more sentences."""
    if redrive.state == RedriveState.DRAFT:
        return ngettext(
            "A draft with {total:,} dead letter. Nothing has run yet. Review the preview, then "
            "start the redrive. Drafts are deleted after a day.",
            "A draft with {total:,} dead letters. Nothing has run yet. Review the preview, then "
            "start the redrive. Drafts are deleted after a day.",
            redrive.total,
        ).format(total=redrive.total)
    done = redrive.succeeded + redrive.failed_again + redrive.skipped
    return gettext(
        "{done:,} of {total:,} ended: {succeeded:,} succeeded, {failed_again:,} failed "
        "again, {skipped:,} skipped."
    ).format(
        done=done,
        total=redrive.total,
        succeeded=redrive.succeeded,
        failed_again=redrive.failed_again,
        skipped=redrive.skipped,
    )


def in_short(redrive: Redrive) -> PageSection:
    """Return a redrive's progress in one panel, with a link to its page."""
    now = progress(redrive)
    return PageSection(
        gettext("Redrive"),
        body=format_html(
            '<p>{} {}</p><p>{} {}</p><p>{}</p><p><a class="vk-link" href="{}">{}</a></p>',
            state_mark(redrive),
            bar(redrive),
            sentence(redrive),
            _pace(now.rate, now.seconds_left),
            redrive.stop_reason or held_by(redrive) if now.queued else "",
            links.page("valkyr_redrive_redrive", redrive.pk),
            gettext("Open the redrive"),
        ),
        error=redrive.state == RedriveState.STOPPED,
    )


def bar(redrive: Redrive) -> SafeString:
    """Return a bar of the redrive's ended entries, with their number."""
    done = redrive.succeeded + redrive.failed_again + redrive.skipped
    return format_html(
        gettext(
            '<progress class="vk-bar" max="{}" value="{}" aria-label="ended"></progress>'
            '<span class="vk-nowrap">{} of {}</span>'
        ),
        max(1, redrive.total),
        done,
        f"{done:,}",
        f"{redrive.total:,}",
    )


def counts(redrive: Redrive) -> PageSection:
    """Return the counts per state (linked to the items), the pace and the remaining time."""
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
        gettext("Progress"),
        headers=(gettext("State"), gettext("Dead letters")),
        rows=[
            [links.link(f"?items={state}", item_mark(state)), f"{count:,}"]
            for state, count in rows
            if count or state in ("SUCCEEDED", "FAILED_AGAIN")
        ],
        more=_pace(now.rate, now.seconds_left),
    )


def chosen(request: HttpRequest, redrive: Redrive) -> PageSection:
    """Return a section with the newest items; if the URL names a state, only those in the state."""
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
    title = gettext("Dead letters")
    if state in ItemState.values:
        title = f"{title}: {ItemState(state).label}"
    return PageSection(
        title,
        headers=HEADERS,
        rows=[_row(item) for item in found],
        empty=gettext("None."),
        more=gettext("The last {number} are shown; the API lists all.").format(number=SHOWN)
        if redrive.total > SHOWN
        else "",
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
        parts.append(links.to("runners_run", item.run_id, gettext("run")))
    if item.execution_id:
        text = gettext("execution")
        parts.append(links.to("executions_workflowexecution", item.execution_id, text))
    return format_html_join(" ", "{}", ((part,) for part in parts)) or marks.EMPTY


def _why(item: RedriveItem) -> SafeString | str:
    if item.again is not None:
        text = marks.clipped(item.again.failure_reason)
        return links.to("dlq_deadletterentry", item.again.pk, text)
    return marks.clipped(item.reason) or marks.EMPTY


def _pace(rate: float, left: float | None) -> str:
    if not rate:
        return ""
    rest = (
        "" if left is None else gettext(", about {took} left").format(took=marks.took(left * 1_000))
    )
    return gettext("{rate:g} per second{rest}.").format(rate=rate, rest=rest)


# The preview of a draft, as panels.


def sections(request: HttpRequest, redrive: Redrive) -> list[PageSection]:
    """Return the sections of a draft's preview, which is computed for each view of the page."""
    try:
        found = preview(redrive.pk)
    except ValkyrError as error:
        return [PageSection(gettext("Preview"), body=str(error), error=True)]
    out = [_outlook(found)]
    if found.definition_changes:
        out.append(_versions(found))
    out.append(_effects(found))
    if redrive.overrides or redrive.expression:
        out += [_rejected(found), _samples(request, redrive, found)]
    return out


def _outlook(found: Preview) -> PageSection:
    rows: list[list[Any]] = [[f"{found.runs:,}", gettext("will run")]]
    rows += [
        [f"{skipped.count:,}", gettext("skipped: {reason}").format(reason=skipped.reason)]
        for skipped in found.skipped
    ]
    more = (
        gettext("A redrive can have at most 100,000 dead letters; these are the oldest. ")
        if found.truncated
        else ""
    )
    long = found.seconds >= 1
    took = (
        gettext("about {took}").format(took=marks.took(found.seconds * 1_000))
        if long
        else gettext("less than a second")
    )
    return PageSection(
        gettext("Preview"),
        headers=(gettext("Dead letters"), gettext("Result")),
        rows=rows,
        more=gettext("{more}Sending should take {took}.").format(more=more, took=took),
    )


def _effects(found: Preview) -> PageSection:
    return PageSection(
        gettext("Repeated side effects"),
        headers=(gettext("Step"), gettext("Module"), gettext("Effect"), gettext("Dead letters")),
        rows=[
            [marks.path(effect.step), effect.module, effect.effect, f"{effect.count:,}"]
            for effect in found.effects
        ],
        empty=gettext("No side effects: the repeated steps do not change other systems."),
    )


def _rejected(found: Preview) -> PageSection:
    return PageSection(
        gettext("Rejected changes"),
        headers=(gettext("Dead letter"), gettext("Reason")),
        rows=[
            [
                links.to("dlq_deadletterentry", entry.entry_id, marks.short(entry.entry_id)),
                format_html_join("", "<div>{}</div>", ((text,) for text in entry.problems)),
            ]
            for entry in found.rejected
        ],
        empty=gettext("None of the {checked:,} checked dead letters.").format(
            checked=found.checked
        ),
        error=bool(found.rejected),
    )


def _samples(request: HttpRequest, redrive: Redrive, found: Preview) -> PageSection:
    title = (
        gettext("Payloads before and after")
        if redrive.scope == RedriveScope.EXECUTION
        else gettext("Inputs before and after")
    )
    if not may(request, redrive, Permission.VIEW_PAYLOADS):
        return hidden_section(title, folded=False)
    return PageSection(
        title,
        headers=(gettext("Dead letter"), gettext("Before"), gettext("After")),
        rows=[
            [
                links.to("dlq_deadletterentry", sample.entry_id, marks.short(sample.entry_id)),
                as_json(sample.before),
                as_json(sample.after),
            ]
            for sample in found.samples
        ],
        empty=gettext("No dead letters."),
    )


def _versions(found: Preview) -> PageSection:
    return PageSection(
        gettext("Differences between the versions"),
        headers=(gettext("From"), gettext("To"), gettext("Changes")),
        rows=[
            [
                f"v{change.before}",
                f"v{change.after}",
                format_html(
                    "{}{}",
                    format_html_join("", "<div>{}</div>", ((text,) for text in change.changes)),
                    gettext("… and more") if change.more else "",
                ),
            ]
            for change in found.definition_changes
        ],
    )


def wanted(redrive: Redrive) -> str:
    """Return the redrive's overrides or expression as text; "" if it has none."""
    if redrive.overrides is not None:
        return json.dumps(masked(redrive.overrides), ensure_ascii=False)
    return redrive.expression
