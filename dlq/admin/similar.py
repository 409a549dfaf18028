"""Similar failures, and how a failure differs from a successful run and another failure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from dlq.admin.entry_links import page
from dlq.admin.status_labels import resolution
from dlq.comparing.difference import Comparison, DifferenceKind, ValueDifference, compare
from dlq.comparing.reference_runs import Search, last_good, other_of_group
from dlq.models import DeadLetterEntry, FailureGroup, Resolution
from executions.admin import links, marks
from executions.admin.scope import scoped
from executions.admin.sections import Cell, PageSection, hidden_section
from executions.definition.graph.places import module_in
from executions.language import lazy
from executions.models import WorkflowVersion
from executions.states import Permission, VersionKind

# Comparisons side by side: with a successful run, another failure, or the step's current
# definition.


AGAINST = "against"
GOOD, OTHER, NOW = (
    lazy("Compared with the last successful run"),
    lazy("Compared with another failure"),
    lazy("Compared with the current definition"),
)
_MARKS = {
    DifferenceKind.ADDED: (lazy("added"), "add", "green"),
    DifferenceKind.REMOVED: (lazy("removed"), "remove", "red"),
    DifferenceKind.CHANGED: (lazy("changed"), "edit", "amber"),
}


@dataclass(frozen=True, slots=True)
class GoodComparison:
    """The search for the last successful run, and the differences from that run, if found."""

    found: Search
    changes: Comparison | None


def against_good(entry: DeadLetterEntry) -> GoodComparison:
    """Return the differences between the failure and the last successful run of its step."""
    found = last_good(entry)
    if found.good is None:
        return GoodComparison(found, None)
    good = found.good
    left = {"version": good.version, "inputs": good.run.inputs, "config": good.config}
    return GoodComparison(found, compare(left, _told(entry)))


def differences(
    request: HttpRequest, entry: DeadLetterEntry, good: GoodComparison | None
) -> Iterator[PageSection]:
    """Yield three panels of comparisons; hide their contents if `good` is None.

    The failure is compared with the last successful run, with another failure, and with the step's
    current definition.
    """
    if good is None:
        yield from (hidden_section(title) for title in (GOOD, OTHER, NOW))
        return
    yield _good(entry, good)
    yield _against_other(request, entry)
    yield _definition(entry)


def _good(entry: DeadLetterEntry, compared: GoodComparison) -> PageSection:
    found = compared.found
    if found.good is None or compared.changes is None:
        times = ngettext("{number:,} execution", "{number:,} executions", found.looked).format(
            number=found.looked
        )
        text = gettext(
            "This step did not succeed in the last {times} of the workflow before this failure."
        ).format(times=times)
        return PageSection(GOOD, body=text)
    good = found.good
    run = links.to("runners_run", good.run.pk, f"{good.run.step_path} #{good.run.attempt}")
    note = format_html(
        gettext("Left: {}, version {}, {}. Right: this failure, version {}."),
        run,
        good.version,
        marks.ago(good.run.finished_at),
        entry.version_number,
    )
    return table(
        GOOD,
        compared.changes,
        note,
        (gettext("Successful run"), gettext("This failure")),
    )


def _against_other(request: HttpRequest, entry: DeadLetterEntry) -> PageSection:
    rows = scoped(request, DeadLetterEntry.objects.all(), Permission.VIEW_PAYLOADS)
    asked = request.GET.get(AGAINST, "")
    wanted = _uuid(asked)
    other = None if asked and wanted is None else other_of_group(entry, rows, wanted)
    if other is None:
        text = _no_others() if not asked else (
            gettext("This group has no dead letter {asked} that you may view.").format(
                asked=asked[:40]
            )
        )  # fmt: skip
        return PageSection(OTHER, body=format_html('<span id="{}">{}</span>', AGAINST, text))
    address = links.page("dlq_deadletterentry", other.pk)
    note = format_html(
        gettext(
            '<span id="{}">Left: {}, {}. Right: this failure. To compare with another failure, '
            "choose it under “Newest in this group”.</span>"
        ),
        AGAINST,
        links.link(
            address,
            gettext("{step_path} in …{execution_id}").format(
                step_path=other.step_path, execution_id=str(other.execution_id)[-8:]
            ),
        ),
        marks.ago(other.quarantined_at),
    )
    return table(
        OTHER,
        compare(_told(other), _told(entry)),
        note,
        (gettext("The other failure"), gettext("This failure")),
        folded=not asked,
    )


def _no_others() -> str:
    return gettext("This group has no other dead letters with the same fingerprint.")


def _definition(entry: DeadLetterEntry) -> PageSection:
    workflow = entry.workflow
    latest = workflow.latest_version
    if latest is None or latest.pk == entry.execution.version_id:
        text = gettext("Version {version_number} ran. No newer version is published.").format(
            version_number=entry.version_number
        )
        return PageSection(NOW, body=text, folded=True)
    then = module_in(entry.execution.version.definition, entry.step_path)
    now = module_in(latest.definition, entry.step_path)
    if now is None:
        text = gettext("Version {number} no longer has the step {step_path}.").format(
            number=latest.number, step_path=entry.step_path
        )
        return PageSection(NOW, body=text, folded=True)
    note = gettext(
        "Left: version {version_number}, which ran. Right: version {number}, now published."
    ).format(version_number=entry.version_number, number=latest.number)
    sides = (
        gettext("Version {version_number}").format(version_number=entry.version_number),
        gettext("Version {number}").format(number=latest.number),
    )
    return table(NOW, compare(then, now), note, sides, folded=True)


def table(
    title: str,
    found: Comparison,
    note: Cell,
    sides: tuple[str, str],
    *,
    folded: bool = False,
) -> PageSection:
    """Return a comparison as a table; each row has the kind, the path and the two values."""
    if found.same:
        return PageSection(
            title, body=format_html(gettext("{} No differences."), note), folded=folded
        )
    more = "" if found.whole else gettext(" Not all differences are shown.")
    return PageSection(
        title,
        headers=(gettext("Difference"), gettext("Path"), *sides),
        rows=[_row(change) for change in found.changes],
        folded=folded,
        more=format_html("{}{}", note, more),
        empty=gettext("The data is too large to compare."),
    )


def _row(change: ValueDifference) -> list[Cell]:
    return [
        marks.mark(*_MARKS[change.kind]),
        format_html('<span class="vk-mono vk-diff-path">{}</span>', change.path),
        _side("del", change.before),
        _side("ins", change.after),
    ]


def _side(tag: str, value: str | None) -> SafeString | str:
    if value is None:
        return marks.EMPTY
    element = '<del class="vk-diff">{}</del>' if tag == "del" else '<ins class="vk-diff">{}</ins>'
    return format_html(element, value)


def _told(entry: DeadLetterEntry) -> dict[str, Any]:
    return {
        "version": entry.version_number,
        "inputs": entry.original_inputs,
        "config": entry.original_config,
    }


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


NEWEST = 5
ALIKE = 5
LOOKED_THROUGH = 500  # open dead letters that are searched for the same target
VERSIONS = 3


def newest_of_group(request: HttpRequest, entry: DeadLetterEntry) -> PageSection:
    """Return a panel of the group's newest other entries with the same fingerprint, with links."""
    # Also by fingerprint, because that index is ordered by time.
    same = DeadLetterEntry.objects.filter(fingerprint=entry.fingerprint, group_id=entry.group_id)
    rows = scoped(request, same)
    found = (
        rows.exclude(pk=entry.pk)
        .only("id", "step_path", "resolution", "quarantined_at", "execution_id", "failure_reason")
        .order_by("-quarantined_at")[:NEWEST]
    )
    every = links.listing("dlq_deadletterentry", group=entry.group_id, resolution="all")
    return PageSection(
        gettext("Newest in this group"),
        headers=(
            gettext("Dead letter"),
            gettext("State"),
            gettext("Since"),
            gettext("Error"),
            gettext("Compare"),
        ),
        rows=[
            [
                links.to("dlq_deadletterentry", other.pk, marks.path(other.step_path)),
                resolution(other.resolution),
                marks.ago(other.quarantined_at),
                marks.clipped(other.failure_reason),
                links.link(f"?{AGAINST}={other.pk}#{AGAINST}", gettext("with this dead letter")),
            ]
            for other in found
        ],
        empty=_no_others(),
        more=links.link(every, gettext("List all in this group")),
    )


def alike(request: HttpRequest, entry: DeadLetterEntry) -> PageSection:
    """Return a panel of groups with the same message, or with open failures at the same target."""
    reasons = dict.fromkeys(_groups_at_target(request, entry), gettext("same target"))
    rows = scoped(
        request, FailureGroup.objects.filter(workspace_id=entry.workspace_id, merged_into=None)
    ).exclude(pk=entry.group_id)
    if entry.group.message:
        same = rows.filter(message=entry.group.message).order_by("-last_seen", "-id")
        reasons |= dict.fromkeys(same.values_list("pk", flat=True)[:ALIKE], gettext("same message"))
    found = rows.filter(pk__in=list(reasons)[: 2 * ALIKE]).select_related("workflow")
    return PageSection(
        gettext("Similar groups"),
        headers=(gettext("Group"), gettext("Workflow"), gettext("Reason"), gettext("Last seen")),
        rows=[_line(group, reasons[group.pk]) for group in found.defer("workflow__definition")],
        empty=gettext("No other group has this message or target."),
        folded=True,
    )


def published(entry: DeadLetterEntry) -> PageSection:
    """Return a panel of the last three versions published before the group's first failure."""
    first = entry.group.first_seen
    found = WorkflowVersion.objects.filter(
        workflow_id=entry.workflow_id,
        kind=VersionKind.PUBLISHED,
        created_at__lte=first,
    ).only("id", "number", "created_at")
    return PageSection(
        gettext("Versions published before the first failure"),
        headers=(gettext("Version"), gettext("Published"), gettext("Before first failure")),
        rows=[
            [
                links.to(
                    "executions_workflowversion",
                    version.pk,
                    gettext("version {number}").format(number=version.number),
                ),
                marks.ago(version.created_at),
                marks.span(first - version.created_at),
            ]
            for version in found.order_by("-number")[:VERSIONS]
        ],
        empty=gettext("None."),
        folded=True,
    )


def _groups_at_target(request: HttpRequest, entry: DeadLetterEntry) -> list[object]:
    if not entry.target:
        return []
    rows = scoped(
        request,
        DeadLetterEntry.objects.filter(
            workspace_id=entry.workspace_id, resolution=Resolution.PENDING
        ),
    )
    newest = rows.order_by("-quarantined_at", "-id").values_list("group_id", "target")
    found = [group for group, target in newest[:LOOKED_THROUGH] if target == entry.target]
    return list(dict.fromkeys(found))[:ALIKE]


def _line(group: FailureGroup, why: str) -> list[Cell]:
    name = marks.clipped(str(group))
    address = page("dlq_failuregroup", group.pk)
    return [
        links.link(address, name) if address else name,
        format_html("{}", group.workflow),
        why,
        marks.ago(group.last_seen),
    ]
