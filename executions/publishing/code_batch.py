"""Write workflows from code, with their versions: many in one transaction.

Only changed schedules need separate statements. Only this module writes definitions from code.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Max

from executions.access.actor import Actor, AuditLine, record_all
from executions.audit.changes import difference
from executions.database import transaction
from executions.database.clock import database_now
from executions.database.statements import fetch
from executions.models import Workflow, WorkflowVersion, Workspace
from executions.publishing.versioning import SlugTaken, kept
from executions.states import VersionKind
from executions.triggers.sync import sync_all

ACTOR = Actor.system("code")
# The columns that code determines; changes of other columns do not increase the revision.
FACTS = ("name", "description", "origin", "definition")


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """The current version of a definition in code; `created` says whether this call created it."""

    workflow_id: UUID
    version_id: UUID
    number: int
    created: bool


@dataclass(frozen=True, slots=True)
class CodeContent:
    """A checked definition, ready to be written; `mark` is the checksum of `resolved`.

    If the workflow does not exist or was archived, it is created with `new_id`.
    """

    slug: str
    name: str
    description: str
    origin: str
    line: int | None
    definition: dict[str, Any]
    resolved: dict[str, Any]
    mark: str
    exists: bool
    new_id: UUID


@dataclass(slots=True)
class _Written:
    """A workflow's locked row, its code's content, and the version with this content."""

    row: Workflow
    said: CodeContent
    version: WorkflowVersion = field(init=False)
    is_new: bool = False  # whether this call created the version

    @property
    def is_made(self) -> bool:
        """Return whether this transaction created the workflow."""
        return self.row.pk == self.said.new_id


def write(workspace: Workspace, said: Sequence[CodeContent]) -> dict[str, CodeVersion]:
    """Make workflows equal to their code in one transaction; return their versions by slug.

    Raises SlugTaken if a user, or other code, already uses a slug; then no workflow is written.
    """
    with transaction.atomic():
        rows = _rows(workspace, sorted(said, key=lambda one: one.slug))
        _number(rows)
        _save(rows)
    return {one.said.slug: _version_of(one) for one in rows}


def _rows(workspace: Workspace, said: Sequence[CodeContent]) -> list[_Written]:
    """Return the workflows, locked; create missing ones. Raises SlugTaken.

    An insert waits for another process that creates the same workflow; then that process's workflow
    is used. Inserts come first, then the locks, both in the order of the slugs, which prevents
    deadlocks.
    """
    found = dict[str, Workflow]()
    missing = [one for one in said if not one.exists]
    while len(found) < len(said):  # once, unless a workflow is archived meanwhile
        now = database_now()
        made = [_new(workspace, one, now) for one in missing]
        Workflow.objects.bulk_create(made, ignore_conflicts=True)
        found = _locked(workspace, said)
        missing = [one for one in said if one.slug not in found]
    rows = [_Written(found[one.slug], one) for one in said]
    for one in rows:
        refuse_foreign(workspace.slug, one.said.slug, has=one.row.origin, says=one.said.origin)
    return rows


def _locked(workspace: Workspace, said: Iterable[CodeContent]) -> dict[str, Workflow]:
    rows = Workflow.objects.select_for_update(no_key=True).filter(
        workspace=workspace, slug__in=[one.slug for one in said], archived_at=None
    )
    found = {row.slug: row for row in rows.order_by("slug")}
    for row in found.values():
        row.workspace = workspace
    return found


def _new(workspace: Workspace, one: CodeContent, now: Any) -> Workflow:
    return Workflow(
        id=one.new_id,
        workspace=workspace,
        slug=one.slug,
        name=one.name,
        description=one.description,
        origin=one.origin,
        origin_line=one.line,
        definition=one.definition,
        created_at=now,
        updated_at=now,
    )


def refuse_foreign(workspace: str, slug: str, *, has: str, says: str) -> None:
    """Raise SlugTaken if the workflow with this slug has a source (`has`) other than `says`."""
    if has != says:
        whose = f"is from {has}" if has else "belongs to a person"
        raise SlugTaken(
            f"Workflow {slug!r} of workspace {workspace!r} {whose}, so {says} cannot publish it. "
            "Choose another slug, or archive that workflow."
        )


def _number(rows: Sequence[_Written]) -> None:
    """Give each workflow its version: an existing one with the same content, or a new one."""
    old = [one.row.pk for one in rows if not one.is_made]
    known, newest = _known(old, {one.said.mark for one in rows}), newest_numbers(old)
    now = database_now()
    for one in rows:
        version = known.get((one.row.pk, one.said.mark))
        one.is_new = version is None
        one.version = version or WorkflowVersion(
            workflow=one.row,
            number=newest.get(one.row.pk, 0) + 1,
            kind=VersionKind.PUBLISHED,
            source=one.said.definition,
            definition=one.said.resolved,
            checksum=one.said.mark,
            created_at=now,
        )


def _known(ids: Sequence[UUID], marks: Iterable[str]) -> dict[tuple[UUID, str], WorkflowVersion]:
    """Return the newest version with each checksum, keyed by workflow ID and checksum."""
    if not ids:
        return {}
    rows = WorkflowVersion.objects.filter(
        workflow__in=ids, checksum__in=list(marks), kind=VersionKind.PUBLISHED
    )
    return {(row.workflow_id, row.checksum): row for row in rows.defer("source").order_by("number")}


def newest_numbers(ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the newest version number of each workflow with versions, keyed by workflow ID."""
    if not ids:
        return {}
    rows = WorkflowVersion.objects.filter(workflow__in=ids).order_by()
    return dict(rows.values_list("workflow_id").annotate(newest=Max("number")))


def _save(rows: Sequence[_Written]) -> None:
    """Write new versions, changed workflows, triggers and the audit trail."""
    WorkflowVersion.objects.bulk_create([one.version for one in rows if one.is_new])
    lines, now = list[AuditLine](), database_now()
    for one in rows:
        lines += _changed(one, now)
    moved = [one for one in rows if one.row.latest_version_id != one.version.pk]
    for one in moved:
        one.row.latest_version = one.version
        lines.append(_line("workflow.publish", one, details=_about(one)))
    write_rows(one.row for one in rows)
    sync_all([(one.row, one.version) for one in moved])
    record_all(ACTOR, lines)


def _changed(one: _Written, now: Any) -> list[AuditLine]:
    """Set the row to the code's values; return lines of the audit trail.

    The list has one line, or is empty if no column of FACTS changed.
    """
    row, said = one.row, one.said
    if one.is_made:
        return [_line("workflow.create", one, after=kept(row))]
    row.origin_line = said.line
    if all(getattr(row, name) == getattr(said, name) for name in FACTS):
        return []
    was = kept(row)
    for name in FACTS:
        setattr(row, name, getattr(said, name))
    row.revision, row.updated_at = row.revision + 1, now
    before, after = difference(was, kept(row))
    return [_line("workflow.update", one, before=before, after=after)]


def write_rows(rows: Iterable[Workflow]) -> None:
    """Write locked workflows, which have the content of code or a bundle, in one statement."""
    names = ("id", "origin_line", "revision", "updated_at", *FACTS)
    said = [
        {name: getattr(row, name) for name in names} | {"latest_version": row.latest_version_id}
        for row in rows
    ]
    fetch("write_workflows", {"rows": json.dumps(said, cls=DjangoJSONEncoder)})


def _about(one: _Written) -> Mapping[str, Any]:
    about = {"version": one.version.number, "checksum": one.version.checksum}
    return about | {"kind": str(VersionKind.PUBLISHED)} if one.is_new else about


def _line(action: str, one: _Written, **what: Any) -> AuditLine:
    return AuditLine(
        action=action,
        workspace_id=one.row.workspace_id,
        object_type="Workflow",
        object_id=one.row.pk,
        **what,
    )


def _version_of(one: _Written) -> CodeVersion:
    return CodeVersion(one.row.pk, one.version.pk, one.version.number, created=one.is_new)
