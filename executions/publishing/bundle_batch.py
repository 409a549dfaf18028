"""Write a bundle's workflows with their versions, and archive workflows, in one transaction.

The number of statements depends on the number of batches. Only schedules, and canaries that end,
need separate statements. The caller holds the locks of the rows that exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F, QuerySet

from executions.access.actor import Actor, AuditLine, record_all
from executions.audit.changes import difference
from executions.database import transaction
from executions.database.clock import database_now
from executions.definition.catalog import catalog
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import checksum, resolve
from executions.definition.limits import limits
from executions.models import Workflow, WorkflowVersion, Workspace
from executions.publishing import rollout
from executions.publishing.code_batch import newest_numbers, write_rows
from executions.publishing.versioning import SlugTaken, kept, storable
from executions.states import VersionKind
from executions.triggers.sync import sync_all

T = TypeVar("T")
BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledWorkflow:
    """A checked workflow of a bundle; `id` is a new ID unless the workflow `exists`."""

    id: UUID
    exists: bool
    slug: str
    name: str
    description: str
    definition: dict[str, Any]
    publishes: bool


def write(
    workspace: Workspace, said: Sequence[BundledWorkflow], actor: Actor
) -> dict[str, int | None]:
    """Create and change workflows and publish new versions; return the versions' numbers by slug.

    Raises SlugTaken if a user has taken a slug since the comparison, and InvalidDefinition for a
    draft that cannot be stored at all.
    """
    numbers = dict[str, int | None]()
    with transaction.atomic():
        for batch in _batches(said):
            numbers |= _write(workspace, batch, actor)
    return numbers


def archive(ids: Sequence[UUID], actor: Actor) -> None:
    """Archive workflows: triggers no longer start them; their executions are kept."""
    with transaction.atomic():
        for batch in _batches(ids):
            rows = list(_locked(batch))
            now = database_now()
            changes = {"archived_at": now, "updated_at": now, "revision": F("revision") + 1}
            Workflow.objects.filter(pk__in=batch).update(**changes)
            for row in rows:
                rollout.end_canary(row, actor, "The workflow was archived.")
            sync_all([(row, None) for row in rows])
            record_all(actor, [_line("workflow.archive", row) for row in rows])


def _batches(given: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(given), BATCH):
        yield given[start : start + BATCH]


def _locked(ids: Sequence[UUID]) -> QuerySet[Workflow]:
    rows = Workflow.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids)
    return rows.select_related("workspace").order_by("slug")


def _write(
    workspace: Workspace, said: Sequence[BundledWorkflow], actor: Actor
) -> dict[str, int | None]:
    now = database_now()
    rows = {row.pk: row for row in _locked([one.id for one in said if one.exists])}
    rows |= _created(workspace, [one for one in said if not one.exists], now)
    made = _versions([one for one in said if one.publishes], rows, actor, now)
    lines = list[AuditLine]()
    for one in said:
        row, version = rows[one.id], made.get(one.id)
        lines += _changed(row, one, now)
        if version is not None:
            rollout.end_canary(row, actor, f"Version {version.number} was published.")
            row.latest_version = version
            about = {"version": version.number, "kind": str(version.kind)}
            about["checksum"] = version.checksum
            lines.append(_line("workflow.publish", row, details=about))
    write_rows(rows.values())
    sync_all([(version.workflow, version) for version in made.values()])
    record_all(actor, lines)
    return {version.workflow.slug: version.number for version in made.values()}


def _created(
    workspace: Workspace, said: Sequence[BundledWorkflow], now: Any
) -> dict[UUID, Workflow]:
    rows = [
        Workflow(
            id=one.id,
            workspace=workspace,
            slug=one.slug,
            name=one.name,
            description=one.description,
            definition=storable(one.definition),
            created_at=now,
            updated_at=now,
        )
        for one in said
    ]
    try:
        with transaction.atomic():
            Workflow.objects.bulk_create(rows)
    except IntegrityError as error:
        taken = workspace.workflows.filter(slug__in=[row.slug for row in rows], archived_at=None)
        named = ", ".join(taken.order_by("slug").values_list("slug", flat=True))
        raise SlugTaken(
            f"Somebody created a workflow of this workspace meanwhile: {named}. Make a new plan, "
            "then apply it."
        ) from error
    return {row.pk: row for row in rows}


def _versions(
    said: Sequence[BundledWorkflow], rows: dict[UUID, Workflow], actor: Actor, now: Any
) -> dict[UUID, WorkflowVersion]:
    """Create the next version of each workflow; return the versions, keyed by workflow ID."""
    newest = newest_numbers([one.id for one in said if one.exists])
    made = {}
    for one in said:
        resolved = resolve(normalise(one.definition), catalog(), limits())
        made[one.id] = WorkflowVersion(
            workflow=rows[one.id],
            number=newest.get(one.id, 0) + 1,
            kind=VersionKind.PUBLISHED,
            source=one.definition,
            definition=resolved,
            checksum=checksum(resolved),
            published_by_id=actor.user_id,
            created_at=now,
        )
    WorkflowVersion.objects.bulk_create(made.values())
    return made


def _changed(row: Workflow, said: BundledWorkflow, now: Any) -> list[AuditLine]:
    """Set the row to the bundle's values; return lines of the audit trail.

    The list has one line, or is empty if nothing changed.
    """
    if not said.exists:
        return [_line("workflow.create", row, after=kept(row))]
    names = [
        name
        for name in ("name", "description", "definition")
        if getattr(row, name) != getattr(said, name)
    ]
    if not names:
        return []
    was = kept(row)
    for name in names:
        setattr(row, name, getattr(said, name))
    storable(row.definition)
    row.revision, row.updated_at = row.revision + 1, now
    before, after = difference(was, kept(row))
    return [_line("workflow.update", row, before=before, after=after)]


def _line(action: str, row: Workflow, **what: Any) -> AuditLine:
    return AuditLine(
        action=action,
        workspace_id=row.workspace_id,
        object_type="Workflow",
        object_id=row.pk,
        **what,
    )
