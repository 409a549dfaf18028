"""The workflows of a bundle compared with those of a workspace.

A file is compared with the workflow's latest version, or with the draft if there is no version.
Users may edit the draft of a published workflow at the same time; a plan warns if applying the file
would replace their unpublished changes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.bundles.wording import (
    ADDED,
    CHANGED,
    WordedChange,
    contents_of_graph,
    difference_of_graphs,
)
from executions.database.ids import uuid7
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.graph.resolve import checksum
from executions.models import Workflow, WorkflowVersion, Workspace
from executions.publishing import bundle_batch, versioning
from executions.publishing.bundle_batch import BundledWorkflow

SCHEMA = "valkyr/1"
REPLACED = "The draft has unpublished changes. They will be replaced."
WITHDRAWN = "This is version {number}, which was withdrawn. Revert the file to keep that."
LAYOUT = "positions, comments or notation of the draft; no new version"
SAME_RUN = "the version runs the same; no new version"


@dataclass(frozen=True, slots=True)
class LiveWorkflow:
    """A workflow of the workspace, with its latest published version, if any."""

    id: UUID
    slug: str
    name: str
    description: str
    origin: str
    revision: int
    draft: dict[str, Any]
    number: int | None
    checksum: str
    source: dict[str, Any] | None

    def document(self, definition: dict[str, Any]) -> dict[str, Any]:
        """Return a definition of this workflow as a file shows it."""
        written = {"schema": SCHEMA, **definition, "name": self.name}
        return written | ({"description": self.description} if self.description else {})

    @property
    def draft_is_published(self) -> bool:
        """Return whether the draft would run in the same way as the latest version."""
        return self.draft == self.source or version_checksum(self.draft) == self.checksum

    @property
    def exported(self) -> dict[str, Any] | None:
        """Return the document for a file; None for a workflow that was never published.

        If the draft would run like the latest version, the document is the draft, which has the
        newest layout. Otherwise, the document is the latest version.
        """
        if self.source is None:
            return None
        return self.document(self.draft if self.draft_is_published else self.source)


@dataclass(slots=True)
class WorkflowVerdict:
    """The effect of applying a file to its workflow; an empty action means no change.

    `id` is the ID of the workflow, even if the workflow does not exist yet. `publishes` says
    whether a new version is published.
    """

    slug: str
    document: dict[str, Any]
    live: LiveWorkflow | None
    id: UUID
    action: str = ""
    publishes: bool = False
    lines: list[WordedChange] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[DefinitionProblem] = field(default_factory=list)
    missing_credentials: list[str] = field(default_factory=list)


def live_workflows(
    workspace: Workspace, slugs: Collection[str] | None, *, lock: bool, most: int | None = None
) -> dict[str, LiveWorkflow]:
    """Return the workspace's workflows with these slugs (None: all), ordered by slug.

    Archived workflows are left out. At most `most` workflows are returned. `lock` locks the rows in
    this order, so that no other transaction changes drafts or versions.
    """
    rows = Workflow.objects.filter(workspace=workspace, archived_at=None).order_by("slug")
    if slugs is not None:
        rows = rows.filter(slug__in=slugs)
    if lock:
        # Lock in a separate statement before the read: a read with a join that waits for the lock
        # would return the old version.
        list(rows.select_for_update(no_key=True).values_list("pk"))
    found = rows.select_related("latest_version")[:most]
    return {row.slug: _live(row) for row in found}


def _live(row: Workflow) -> LiveWorkflow:
    latest = row.latest_version
    return LiveWorkflow(
        id=row.pk,
        slug=row.slug,
        name=row.name,
        description=row.description,
        origin=row.origin,
        revision=row.revision,
        draft=row.definition,
        number=latest.number if latest else None,
        checksum=latest.checksum if latest else "",
        source=latest.source if latest else None,
    )


def version_checksum(definition: Any) -> str:
    """Return the checksum of a version with this definition; "" for an invalid definition."""
    try:
        return versioning.checksum_of(definition)
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


def judged(slug: str, document: dict[str, Any], live: LiveWorkflow | None) -> WorkflowVerdict:
    """Return the effect of applying a file's document to the workflow `live` (None: a new one)."""
    verdict = WorkflowVerdict(slug, document, live, live.id if live else uuid7())
    if live is not None and live.origin:
        what = f"The workflow comes from the code {live.origin}. Remove the file, or the code."
        verdict.problems.append(DefinitionProblem("", "workflow_from_code", what))
        return verdict
    _decide(verdict)
    return verdict


def check(
    verdicts: Sequence[WorkflowVerdict], workspace: Workspace, checksums: Mapping[str, str]
) -> None:
    """Check the changed workflows and the expected checksums; add the problems to the verdicts."""
    changed = [one for one in verdicts if one.action and one.action != "layout"]
    given = [(one.document, one.id) for one in changed]
    for one, found in zip(changed, versioning.check_many(given, workspace.pk), strict=True):
        one.problems += found.problems
        one.missing_credentials = found.missing_credentials
    for one in verdicts:
        expected = checksums.get(one.slug, "")
        if not expected or one.problems or (mark := version_checksum(one.document)) == expected:
            continue
        what = (
            f"The version has the checksum {expected[:12]} where it comes from, and would have "
            f"{mark[:12]} here: module types or defaults differ."
        )
        one.problems.append(DefinitionProblem("", "checksum_differs", what))


def _decide(verdict: WorkflowVerdict) -> None:
    live, document = verdict.live, verdict.document
    if live is None:
        verdict.action, verdict.publishes = "create", True
        verdict.lines = contents_of_graph(document)
        return
    if live.source is None:
        verdict.action, verdict.publishes = "change", True
        verdict.lines = [
            *difference_of_graphs(live.document(live.draft), document),
            WordedChange(ADDED, "its first version is published"),
        ]
        return
    bases = [live.document(live.source)]
    if live.draft_is_published:
        bases.append(live.document(live.draft))
    if any(checksum(document) == checksum(base) for base in bases):
        if document not in bases and live.draft_is_published:
            verdict.action, verdict.lines = "layout", [WordedChange(CHANGED, LAYOUT)]
        return
    verdict.action = "change"
    verdict.publishes = version_checksum(document) != live.checksum
    verdict.lines = difference_of_graphs(bases[-1], document)
    if not verdict.publishes:
        verdict.lines.append(WordedChange(CHANGED, SAME_RUN))
    if not live.draft_is_published and live.document(live.draft) != document:
        verdict.warnings.append(REPLACED)


def warn_of_withdrawn(verdicts: Collection[WorkflowVerdict]) -> None:
    """Warn if a file would publish a version that was rolled back or stopped as a canary."""
    found = {one.live.id: one for one in verdicts if one.live and one.publishes}
    if not found:
        return
    rows = WorkflowVersion.objects.filter(workflow__in=found, withdrawn_at__isnull=False)
    for pk, number, withdrawn in rows.order_by("number").values_list(
        "workflow_id", "number", "checksum"
    ):
        if withdrawn == version_checksum(found[pk].document):
            found[pk].warnings.append(WITHDRAWN.format(number=number))


def write(
    verdicts: Sequence[WorkflowVerdict], workspace: Workspace, actor: Actor
) -> dict[str, int | None]:
    """Apply the verdicts that have an action; return latest version numbers, keyed by slug.

    The result omits workflows of which only the layout changes.
    """
    changed = [one for one in verdicts if one.action]
    said = [
        BundledWorkflow(
            id=one.id,
            exists=one.live is not None,
            slug=one.slug,
            name=one.document["name"].strip()[:200],
            description=_description(one.document),
            definition=one.document,
            publishes=one.publishes,
        )
        for one in changed
    ]
    numbers = bundle_batch.write(workspace, said, actor)
    live = {one.slug: one.live.number for one in changed if one.live and one.action != "layout"}
    return live | numbers


def _description(document: Mapping[str, Any]) -> str:
    text = document.get("description")
    return text if isinstance(text, str) else ""
