"""What a draft would do, in panels."""

import json
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from executions.public.admin import PageSection, as_json, hidden_section, links, marks, masked, may
from executions.public.errors import ValkyrError
from executions.public.models import Permission
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.preview import Preview, preview


def sections(request: HttpRequest, redrive: Redrive) -> list[PageSection]:
    """The preview of a draft, made anew each time it is looked at."""
    try:
        found = preview(redrive.pk)
    except ValkyrError as error:
        return [PageSection("Preview", body=str(error), error=True)]
    out = [_outlook(found)]
    if found.definition_changes:
        out.append(_versions(found))
    out.append(_effects(found))
    if redrive.overrides or redrive.expression:
        out += [_rejected(found), _samples(request, redrive, found)]
    return out


def _outlook(found: Preview) -> PageSection:
    rows: list[list[Any]] = [[f"{found.runs:,}", "will run"]]
    rows += [[f"{skipped.count:,}", f"skipped: {skipped.reason}"] for skipped in found.skipped]
    more = "There were more; one redrive takes the oldest 100,000. " if found.truncated else ""
    long = found.seconds >= 1
    took = f"about {marks.took(found.seconds * 1_000)}" if long else "less than a second"
    return PageSection(
        "What would happen",
        headers=("Entries", "What becomes of them"),
        rows=rows,
        more=f"{more}Sending them takes {took} at this pace.",
    )


def _effects(found: Preview) -> PageSection:
    return PageSection(
        "Runs again outside",
        headers=("Step", "Module", "Effect", "Entries"),
        rows=[
            [marks.path(effect.step), effect.module, effect.effect, f"{effect.count:,}"]
            for effect in found.effects
        ],
        empty="Nothing: no step that runs again has effects outside.",
    )


def _rejected(found: Preview) -> PageSection:
    return PageSection(
        "Refused by the module's schema",
        headers=("Entry", "Why"),
        rows=[
            [
                links.to("dlq_deadletterentry", entry.entry_id, marks.short(entry.entry_id)),
                format_html_join("", "<div>{}</div>", ((text,) for text in entry.problems)),
            ]
            for entry in found.rejected
        ],
        empty=f"None of the {found.checked:,} that were tried.",
        error=bool(found.rejected),
    )


def _samples(request: HttpRequest, redrive: Redrive, found: Preview) -> PageSection:
    title = "Inputs before and after"
    if not may(request, redrive, Permission.VIEW_PAYLOADS):
        return hidden_section(title, folded=False)
    return PageSection(
        title,
        headers=("Entry", "Before", "After"),
        rows=[
            [
                links.to("dlq_deadletterentry", sample.entry_id, marks.short(sample.entry_id)),
                as_json(sample.before),
                as_json(sample.after),
            ]
            for sample in found.samples
        ],
        empty="No entry is left to show.",
    )


def _versions(found: Preview) -> PageSection:
    return PageSection(
        "Other versions of the definition",
        headers=("From", "To", "Differs in"),
        rows=[
            [
                f"v{change.before}",
                f"v{change.after}",
                format_html(
                    "{}{}",
                    format_html_join("", "<div>{}</div>", ((text,) for text in change.changes)),
                    "… and more" if change.more else "",
                ),
            ]
            for change in found.definition_changes
        ],
    )


def wanted(redrive: Redrive) -> str:
    """Its overrides or expression as text; empty for none."""
    if redrive.overrides is not None:
        return json.dumps(masked(redrive.overrides), ensure_ascii=False)
    return redrive.expression
