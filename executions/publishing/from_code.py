"""Workflows that come from code: new content becomes a version; users cannot edit the workflow.

The code is the draft. Unchanged content creates no version, so any number of processes can publish
at any time. The content is the fully resolved definition, so a changed property of a step (its
effect, its outcomes) creates a version too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F

from executions.configuration import settings
from executions.database import transaction
from executions.database.ids import uuid7
from executions.definition.catalog import catalog
from executions.definition.graph.resolve import checksum, resolve
from executions.definition.limits import limits
from executions.errors import InvalidDefinition
from executions.models import Tier, Workflow, Workspace
from executions.publishing.code_batch import CodeContent, CodeVersion, refuse_foreign, write
from executions.publishing.versioning import check

TIER = "unlimited"
# Maximum number of workflows that one transaction writes.
BATCH = 100


@dataclass(frozen=True, slots=True)
class CodeDefinition:
    """A workflow's definition in code; see `publish_from_code`."""

    slug: str
    definition: Mapping[str, Any]
    origin: str
    description: str = ""
    line: int | None = None
    name: str = ""

    @property
    def called(self) -> str:
        """Return the displayed name: the given name, the definition's name or the slug."""
        return (self.name or str(self.definition.get("name") or self.slug))[:200]


def code_workspace() -> Workspace:
    """Return the workspace of workflows from code (`CODE_WORKSPACE`), created if missing."""
    slug = settings().code_workspace
    found = Workspace.objects.filter(slug=slug).first()
    if found is not None:
        return found
    with transaction.atomic():
        tier, _ = Tier.objects.get_or_create(name=TIER)
        made, _ = Workspace.objects.get_or_create(slug=slug, defaults={"name": slug, "tier": tier})
    return made


def publish_from_code(
    slug: str,
    definition: Mapping[str, Any],
    *,
    origin: str,
    name: str = "",
    description: str = "",
    line: int | None = None,
    workspace: Workspace | None = None,
) -> CodeVersion:
    """Publish a definition under a slug, unless the latest version has the same content.

    `origin` names the source, such as `shop.flows:fulfil`, and `line` is the line in it. A missing
    workflow is created. If the content equals that of an earlier version, that version becomes the
    latest again. Uses one query if nothing changed. Raises InvalidDefinition with the problems, and
    SlugTaken if a user's workflow, or a workflow of another origin, has the slug.
    """
    one = CodeDefinition(slug, definition, origin, description, line, name)
    return publish_many_from_code([one], workspace=workspace)[slug]


def publish_many_from_code(
    given: Sequence[CodeDefinition], *, workspace: Workspace | None = None
) -> dict[str, CodeVersion]:
    """Publish many definitions as `publish_from_code` does; return their versions by slug.

    Uses one query if nothing changed. All definitions are checked before any workflow is written;
    then BATCH workflows are written per transaction. If several have the same slug, only the last
    one is published.
    """
    plan = plan_from_code(given, workspace=workspace)
    versions = {slug: plan.current[slug] for slug in plan.unchanged}
    if plan.changed:
        place = workspace or code_workspace()
        for start in range(0, len(plan.changed), BATCH):
            versions |= write(place, plan.changed[start : start + BATCH])
    return versions


@dataclass(frozen=True, slots=True)
class CodePlan:
    """The effects of publishing.

    `current` are the existing workflows with their latest versions, by slug; `changed` are the
    checked definitions to write.
    """

    current: Mapping[str, CodeVersion]
    unchanged: frozenset[str]
    changed: Sequence[CodeContent]


def plan_from_code(
    given: Sequence[CodeDefinition], *, workspace: Workspace | None = None
) -> CodePlan:
    """Compare definitions with the published ones, and check those that differ; write nothing.

    Uses one query if nothing changed. Raises InvalidDefinition and SlugTaken, as publishing does.
    """
    slug = settings().code_workspace if workspace is None else workspace.slug
    wanted = {one.slug: one for one in given}
    current, unchanged = {}, set()
    for row in _published(slug, list(wanted)):
        one = wanted[row["slug"]]
        refuse_foreign(slug, one.slug, has=row["origin"], says=one.origin)
        current[one.slug] = CodeVersion(row["pk"], row["version"], row["number"], created=False)
        if _says(one, row):
            unchanged.add(one.slug)
    changed = [one for one in wanted.values() if one.slug not in unchanged]
    if not changed:
        return CodePlan(current, frozenset(unchanged), ())
    place = _id_of(slug) if workspace is None else workspace.pk
    contents = [_checked(one, place, current.get(one.slug)) for one in changed]
    return CodePlan(current, frozenset(unchanged), contents)


def _id_of(workspace: str) -> UUID | None:
    """Return the ID of the workspace with this slug; None if it does not exist yet."""
    return Workspace.objects.filter(slug=workspace).values_list("pk", flat=True).first()


def _published(workspace: str, slugs: list[str]) -> Iterable[Any]:
    rows = Workflow.objects.filter(workspace__slug=workspace, slug__in=slugs, archived_at=None)
    return rows.values(
        "pk", "slug", "origin", "origin_line", "name", "description",
        version=F("latest_version"),
        number=F("latest_version__number"),
        mark=F("latest_version__checksum"),
    )  # fmt: skip


def _says(one: CodeDefinition, row: Mapping[str, Any]) -> bool:
    """Return whether a row equals the code; compare the checksum last: computing it is slow."""
    said = (one.origin, one.line, one.called, one.description)
    has = tuple(row[name] for name in ("origin", "origin_line", "name", "description"))
    return said == has and row["mark"] == _mark(one.definition)


def _mark(definition: Mapping[str, Any]) -> str:
    """Return the checksum of the content; "" for an invalid definition, which is reported later."""
    try:
        return checksum(resolve(dict(definition), catalog(), limits()))
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


def _checked(
    one: CodeDefinition, workspace_id: UUID | None, current: CodeVersion | None
) -> CodeContent:
    """Return a definition, checked and resolved. Raises InvalidDefinition with the problems."""
    source, new_id = dict(one.definition), uuid7()
    if found := check(source, workspace_id, current.workflow_id if current else new_id):
        many = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        raise InvalidDefinition(
            f"Workflow {one.slug!r} ({one.origin}) has {many} and cannot be published.", found
        )
    resolved = resolve(source, catalog(), limits())
    return CodeContent(
        slug=one.slug,
        name=one.called,
        description=one.description,
        origin=one.origin,
        line=one.line,
        definition=source,
        resolved=resolved,
        mark=checksum(resolved),
        exists=current is not None,
        new_id=new_id,
    )
