"""The page of one dead letter, from the error to its history."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dlq.admin.attempts import attempts_section, copy_of, logs_section, traceback_section
from dlq.admin.entry_links import page
from dlq.admin.exporting import copying_section
from dlq.admin.marked_inputs import marked_inputs
from dlq.admin.similar import (
    GoodComparison,
    against_good,
    alike,
    differences,
    newest_of_group,
    published,
)
from dlq.admin.status_labels import pinned, resolution
from dlq.models import DeadLetterEntry, Resolution
from executions.admin import labels, links, marks
from executions.admin.activity import done_to
from executions.admin.sections import (
    PageSection,
    hidden_section,
    payload_section,
    text_section,
)
from executions.admin.values import as_json
from runners.admin.run import state_of
from runners.models import Run

# Related rows that the entry's query loads.
AROUND = (
    "run", "execution__version", "workflow__latest_version", "group", "requeued_run",
    "reviewed_by", "follows",
)  # fmt: skip
STEPS = 10


def marked(entry: DeadLetterEntry) -> SafeString:
    """Return the badges above the page: the dead letter's state, and whether it is pinned."""
    return format_html("{} {}", resolution(entry.resolution), pinned(entry))


def reason(entry: DeadLetterEntry) -> Iterator[PageSection]:
    """Yield the panels above the facts: the error, and notes of users if there are any."""
    error = entry.run.error or entry.failure_reason
    yield PageSection(gettext("Error"), body=copy_of(error, gettext("the error")), error=True)
    if entry.notes:
        yield text_section(gettext("Notes"), entry.notes)


def panels(
    request: HttpRequest, entry: DeadLetterEntry, *, sees: bool
) -> tuple[list[PageSection], list[PageSection]]:
    """Return the panels above and below the facts; they contain payloads only if `sees` is true.

    Inputs with marked values are above the facts, next to the error.
    """
    good = against_good(entry) if sees else None
    marked_ones = marked_inputs(entry, good.changes) if good else None
    below = list(_sections(request, entry, good))
    if marked_ones is not None:
        return [*reason(entry), marked_ones], below
    inputs = payload_section(
        gettext("Inputs"),
        entry.original_inputs,
        shown=sees,
        folded=False,
        download=entry.execution_id,
    )
    return list(reason(entry)), [inputs, *below]


def _sections(
    request: HttpRequest, entry: DeadLetterEntry, good: GoodComparison | None
) -> Iterator[PageSection]:
    sees = good is not None
    yield from differences(request, entry, good)
    yield attempts_section(entry)
    trace = traceback_section(entry.run)
    if trace is not None:
        yield trace
    yield payload_section(gettext("Configuration"), entry.original_config, shown=sees)
    yield _outputs(entry, shown=sees)
    yield payload_section(
        gettext("Variables"),
        entry.execution.context_data,
        shown=sees,
        download=entry.execution_id,
    )
    yield logs_section(entry.run, shown=sees)
    yield newest_of_group(request, entry)
    yield alike(request, entry)
    yield published(entry)
    yield copying_section(entry, sees=sees)
    yield done_to(entry.pk)


def entry_facts(entry: DeadLetterEntry) -> list[tuple[str, Any]]:
    """Return the names and values of a dead letter's facts."""
    return [
        (gettext("Error"), " ".join(filter(None, (entry.exception, entry.error_type)))),
        (gettext("HTTP status"), str(entry.http_status or "")),
        (gettext("Target"), entry.target),
        (gettext("Worker"), marks.worker(entry.worker)),
        (gettext("Version"), f"v{entry.version_number}"),
        (gettext("Module"), entry.module),
        (gettext("Group"), _group(entry)),
        (gettext("Labels"), labels.shown(entry.labels)),
        (gettext("Requeued before"), _follows(entry) if entry.redrives else ""),
        (gettext("First viewed"), marks.ago(entry.seen_at)),
        (gettext("Resolved"), marks.ago(entry.resolved_at)),
        (gettext("Reviewed by"), str(entry.reviewed_by or "")),
        (gettext("Requeued as"), _went_on(entry)),
        (gettext("Kept until"), _kept(entry)),
        (gettext("ID"), marks.copyable(entry.pk)),
    ]


def _group(entry: DeadLetterEntry) -> SafeString | str:
    group = entry.group
    text = gettext("{open:,} open of {total:,}").format(open=group.open, total=group.total)
    address = page("dlq_failuregroup", group.pk)
    return links.link(address, text) if address else text


def _follows(entry: DeadLetterEntry) -> SafeString | str:
    times = marks.times(entry.redrives)
    if entry.follows_id is None:
        return times
    before = links.to("dlq_deadletterentry", entry.follows_id, gettext("the previous dead letter"))
    return format_html("{}, {}", times, before)


def _went_on(entry: DeadLetterEntry) -> SafeString | str:
    found = []
    if entry.requeued_run is not None:
        run = entry.requeued_run
        attempt = links.to(
            "runners_run", run.pk, gettext("attempt {attempt}").format(attempt=run.attempt)
        )
        found.append(format_html("{} {}", attempt, state_of(run)))
    if entry.requeued_execution_id is not None:
        pk = entry.requeued_execution_id
        found.append(
            links.to(
                "executions_workflowexecution",
                pk,
                gettext("execution …{id}").format(id=str(pk)[-8:]),
            )
        )
    return format_html(" ".join(["{}"] * len(found)), *found) if found else ""


def _kept(entry: DeadLetterEntry) -> SafeString | str:
    if entry.pinned:
        return gettext("pinned: kept permanently")
    if entry.resolution == Resolution.PENDING:
        return gettext("it is resolved")
    return marks.ago(entry.expires_at) if entry.expires_at else gettext("never deleted")


def _outputs(entry: DeadLetterEntry, *, shown: bool) -> PageSection:
    """Return a panel of the outputs of the last ten successful steps; hide them without `shown`."""
    title = gettext("Outputs so far")
    if not shown:
        return hidden_section(title)
    runs = (
        Run.objects.filter(execution_id=entry.execution_id, state="SUCCESS", superseded=False)
        .only("id", "step_path", "outputs", "finished_at")
        .order_by("-finished_at", "-id")[:STEPS]
    )
    return PageSection(
        title,
        headers=(gettext("Step"), gettext("Ended"), gettext("Outputs")),
        rows=[
            [
                links.to("runners_run", run.pk, marks.path(run.step_path)),
                marks.ago(run.finished_at),
                _folded(run.outputs),
            ]
            for run in runs
        ],
        empty=gettext("No step of the execution has succeeded."),
        folded=True,
        more=_others() if len(runs) == STEPS else "",
    )


def _others() -> str:
    text = gettext("The {number} most recent successful steps. Others are on the execution's page.")
    return text.format(number=STEPS)


def _folded(value: Any) -> SafeString:
    summary = gettext("show")
    return format_html("<details><summary>{}</summary>{}</details>", summary, as_json(value))
