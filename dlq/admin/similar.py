"""What else fails like this: the newest of the group, groups alike, and what was published then."""

from datetime import timedelta

from django.http import HttpRequest
from django.utils.html import format_html

from dlq.admin.diff import AGAINST
from dlq.admin.marks import resolution
from dlq.admin.whereabouts import page
from dlq.models import DeadLetterEntry, FailureGroup, Resolution
from executions.admin import links, marks
from executions.admin.scope import scoped
from executions.admin.sections import Cell, PageSection
from executions.models import WorkflowVersion

NEWEST = 5
ALIKE = 5
LOOKED_THROUGH = 500  # open dead letters of the workspace, for those with the same target
VERSIONS = 3
AFTERWARDS = timedelta(minutes=5)


def newest_of_group(request: HttpRequest, entry: DeadLetterEntry) -> PageSection:
    """The newest other entries, each to be opened or to be held against this one."""
    # By fingerprint too, which has an index in the order of time.
    same = DeadLetterEntry.objects.filter(fingerprint=entry.fingerprint, group_id=entry.group_id)
    rows = scoped(request, same)
    found = (
        rows.exclude(pk=entry.pk)
        .only("id", "step_path", "resolution", "quarantined_at", "execution_id", "failure_reason")
        .order_by("-quarantined_at")[:NEWEST]
    )
    every = links.listing("dlq_deadletterentry", group=entry.group_id, resolution="all")
    return PageSection(
        "Newest of this group",
        headers=("Entry", "State", "Since", "Error", "Compare"),
        rows=[
            [
                links.to("dlq_deadletterentry", other.pk, marks.path(other.step_path)),
                resolution(other.resolution),
                marks.ago(other.quarantined_at),
                marks.clipped(other.failure_reason),
                links.link(f"?{AGAINST}={other.pk}#{AGAINST}", "with this one"),
            ]
            for other in found
        ],
        empty="It is the only one.",
        more=links.link(every, "All of this group"),
    )


def alike(request: HttpRequest, entry: DeadLetterEntry) -> PageSection:
    """Groups of the workspace with the same message, or open failures at the same target."""
    reasons = dict.fromkeys(_groups_at_target(request, entry), "same target")
    rows = scoped(
        request, FailureGroup.objects.filter(workspace_id=entry.workspace_id, merged_into=None)
    ).exclude(pk=entry.group_id)
    if entry.group.message:
        same = rows.filter(message=entry.group.message).order_by("-last_seen", "-id")
        reasons |= dict.fromkeys(same.values_list("pk", flat=True)[:ALIKE], "same message")
    found = rows.filter(pk__in=list(reasons)[: 2 * ALIKE]).select_related("workflow")
    return PageSection(
        "Alike",
        headers=("Group", "Workflow", "Why", "Last seen"),
        rows=[_line(group, reasons[group.pk]) for group in found.defer("workflow__definition")],
        empty="No other group has this message or fails at this target.",
        folded=True,
    )


def published(entry: DeadLetterEntry) -> PageSection:
    """The versions published before the group was first seen, newest first."""
    first = entry.group.first_seen
    found = WorkflowVersion.objects.filter(
        workflow_id=entry.workflow_id, created_at__lte=first + AFTERWARDS
    ).only("id", "number", "created_at")
    return PageSection(
        "Published before it was first seen",
        headers=("Version", "Published", "Before the first failure"),
        rows=[
            [
                links.to("executions_workflowversion", version.pk, f"version {version.number}"),
                marks.ago(version.created_at),
                marks.span(max(first - version.created_at, timedelta())),
            ]
            for version in found.order_by("-number")[:VERSIONS]
        ],
        empty="None.",
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
