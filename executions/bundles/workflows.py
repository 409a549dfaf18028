"""The workflows of a bundle against those of a workspace.

A workflow's file describes its published version. Users may edit the draft meanwhile: a plan
ignores the draft unless the file changes the workflow, and then warns that it will be replaced.
"""

from collections.abc import Collection, Mapping
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
from executions.credentials.definition_check import missing_credentials
from executions.definition.catalog import catalog
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.graph.resolve import checksum
from executions.errors import Unchanged
from executions.models import Workflow, Workspace
from executions.publishing import versioning

SCHEMA = "valkyr/1"
REPLACED = "The draft has unpublished changes. They will be replaced."
LAYOUT = "positions, comments or notation of the draft; no new version"
SAME_RUN = "the version runs the same; no new version"


@dataclass(frozen=True, slots=True)
class LiveWorkflow:
    """A workflow of the workspace, with its latest published version."""

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
        """Return whether the draft runs as the latest version does."""
        return self.draft == self.source or version_checksum(self.draft) == self.checksum

    @property
    def exported(self) -> dict[str, Any] | None:
        """Return the document for a file; None for a workflow that was never published.

        The draft, for its layout, unless it differs from the published version.
        """
        if self.source is None:
            return None
        return self.document(self.draft if self.draft_is_published else self.source)


@dataclass(slots=True)
class WorkflowVerdict:
    """What applying a file does to its workflow; an empty action means nothing.

    `publishes` says whether a new version is published.
    """

    slug: str
    document: dict[str, Any]
    live: LiveWorkflow | None
    action: str = ""
    publishes: bool = False
    lines: list[WordedChange] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[DefinitionProblem] = field(default_factory=list)
    missing_credentials: list[str] = field(default_factory=list)


def live_workflows(
    workspace: Workspace, slugs: Collection[str] | None, *, lock: bool, most: int | None = None
) -> dict[str, LiveWorkflow]:
    """Return workflows by slug, in its order; all of the workspace without `slugs`.

    `lock` locks their rows in this order, against every writer of drafts and versions.
    """
    rows = Workflow.objects.filter(workspace=workspace, archived_at=None).order_by("slug")
    if slugs is not None:
        rows = rows.filter(slug__in=slugs)
    if lock:
        # Locked before the read: a joined read that waits would show the version of before.
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
    """Return the checksum that a version would have; "" for an invalid definition."""
    try:
        return versioning.checksum_of(definition)
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


def judged(
    slug: str,
    document: dict[str, Any],
    live: LiveWorkflow | None,
    workspace: Workspace,
    expected_checksum: str = "",
) -> WorkflowVerdict:
    """Compare a file's document with the workflow, and check it if it changes something."""
    verdict = WorkflowVerdict(slug, document, live)
    if live is not None and live.origin:
        what = f"The workflow comes from the code {live.origin}. Remove the file, or the code."
        verdict.problems.append(DefinitionProblem("", "workflow_from_code", what))
        return verdict
    _decide(verdict)
    if verdict.action and verdict.action != "layout":
        _check(verdict, workspace)
    if expected_checksum and not verdict.problems:
        found = version_checksum(document)
        if found != expected_checksum:
            what = (
                f"The version has the checksum {expected_checksum[:12]} where it comes from, and "
                f"would have {found[:12]} here: module types or defaults differ."
            )
            verdict.problems.append(DefinitionProblem("", "checksum_differs", what))
    return verdict


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


def _check(verdict: WorkflowVerdict, workspace: Workspace) -> None:
    live_id = verdict.live.id if verdict.live else None
    verdict.problems += versioning.check(verdict.document, workspace.pk, live_id)
    if any(one.code == "unknown_credential" for one in verdict.problems):
        found = missing_credentials(verdict.document, catalog(), workspace.pk)
        verdict.missing_credentials = found


def write(verdict: WorkflowVerdict, workspace: Workspace, actor: Actor) -> tuple[UUID, int | None]:
    """Apply a verdict that has no problems; return the workflow's ID and its latest version."""
    document, live = verdict.document, verdict.live
    facts = {"name": document["name"].strip()[:200], "description": _description(document)}
    if live is None:
        made = versioning.create_workflow(
            workspace, slug=verdict.slug, definition=document, actor=actor, **facts
        )
        return made.pk, _publish(made.pk, actor)
    changes: dict[str, Any] = {
        name: value for name, value in facts.items() if value != getattr(live, name)
    }
    if document != live.draft:
        changes["definition"] = document
    if changes:
        versioning.update_workflow(live.id, changes, actor=actor, expected_revision=None)
    return live.id, (_publish(live.id, actor) if verdict.publishes else live.number)


def _description(document: Mapping[str, Any]) -> str:
    text = document.get("description")
    return text if isinstance(text, str) else ""


def _publish(workflow_id: UUID, actor: Actor) -> int | None:
    try:
        return versioning.publish(workflow_id, actor=actor, from_bundle=True).number
    except Unchanged:
        return None
