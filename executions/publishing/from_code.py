"""Workflows that come from code: published by content, read-only for people.

The code is the draft. Equal content makes no version, so that publishing is safe from any number of
processes, at any time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.configuration import settings
from executions.database import transaction
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import checksum
from executions.models import Tier, Workflow, WorkflowVersion, Workspace
from executions.publishing import versioning
from executions.publishing.versioning import SlugTaken
from executions.states import VersionKind

ACTOR = Actor.system("code")
TIER = "unlimited"


@dataclass(frozen=True, slots=True)
class CodeDefinition:
    """What code says of a workflow; see `publish_from_code`."""

    slug: str
    definition: Mapping[str, Any]
    origin: str
    description: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """The version that code's definition has now; `created` if this call made it."""

    workflow_id: UUID
    version_id: UUID
    number: int
    created: bool


def code_workspace() -> Workspace:
    """The workspace of workflows from code (setting `CODE_WORKSPACE`); made where it is missing."""
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
    """Publish a definition under a slug, unless the newest version says the same.

    `origin` names where it is from, as `shop.flows:fulfil`, and `line` its line there. A workflow
    that is missing is made. Content of an earlier version makes that one the latest again. One
    query where nothing changed. Raises InvalidDefinition with all problems, and SlugTaken where a
    person's workflow, or one of another origin, has the slug.
    """
    source, mark = dict(definition), _checksum(definition)
    where = workspace or code_workspace()
    wanted = name or str(source.get("name") or slug)
    facts = {
        "name": wanted[:200],
        "description": description,
        "origin": origin,
        "origin_line": line,
    }
    if (current := _current(where, slug, mark, facts)) is not None:
        return current
    with transaction.atomic():
        workflow = _workflow(where, slug, source, facts)
        return _version(workflow, source, mark, facts)


def unchanged_from_code(given: Iterable[CodeDefinition]) -> dict[str, CodeVersion]:
    """Of many definitions those whose latest version says the same, by slug; in one query."""
    wanted = {one.slug: one for one in given}
    rows = Workflow.objects.filter(
        workspace__slug=settings().code_workspace, slug__in=list(wanted), archived_at=None
    ).values_list(
        "slug", "origin", "origin_line", "name", "description", "latest_version__checksum",
        "pk", "latest_version_id", "latest_version__number",
    )  # fmt: skip
    found = {}
    for slug, origin, line, name, description, mark, pk, version, number in rows:
        one = wanted[slug]
        called = str(one.definition.get("name") or slug)[:200]
        facts = (one.origin, one.line, called, one.description)
        if (origin, line, name, description) == facts and mark == _checksum(one.definition):
            found[slug] = CodeVersion(pk, version, number, created=False)
    return found


def _checksum(definition: Mapping[str, Any]) -> str:
    """The checksum of a definition that can be read; one that cannot has problems, found later."""
    try:
        return checksum(normalise(dict(definition)))
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


def _current(
    workspace: Workspace, slug: str, mark: str, facts: Mapping[str, Any]
) -> CodeVersion | None:
    """The latest version where it says the same; no lock is taken."""
    row = (
        Workflow.objects.filter(
            workspace=workspace,
            slug=slug,
            archived_at=None,
            latest_version__checksum=mark,
            **facts,
        )
        .values_list("pk", "latest_version_id", "latest_version__number")
        .first()
    )
    return None if row is None else CodeVersion(*row, created=False)


def _workflow(
    workspace: Workspace, slug: str, source: dict[str, Any], facts: Mapping[str, Any]
) -> Workflow:
    """The workflow of this slug, locked; made where there is none."""
    found = _locked(workspace, slug)
    if found is None:
        try:
            return versioning.create_workflow(
                workspace,
                name=facts["name"],
                slug=slug,
                description=facts["description"],
                origin=facts["origin"],
                origin_line=facts["origin_line"],
                definition=source,
                actor=ACTOR,
            )
        except SlugTaken:  # another process made it meanwhile
            found = _locked(workspace, slug)
            if found is None:
                raise
    if found.origin != facts["origin"]:
        whose = f"is from {found.origin}" if found.origin else "belongs to a person"
        raise SlugTaken(
            f"Workflow {slug!r} of workspace {workspace.slug!r} {whose}, so {facts['origin']} "
            "cannot publish it. Choose another slug, or archive that workflow."
        )
    return found


def _locked(workspace: Workspace, slug: str) -> Workflow | None:
    rows = Workflow.objects.select_for_update(no_key=True)
    return rows.filter(workspace=workspace, slug=slug, archived_at=None).first()


def _version(
    workflow: Workflow, source: dict[str, Any], mark: str, facts: Mapping[str, Any]
) -> CodeVersion:
    """The version with this content, made the latest; the workflow is locked."""
    versioning.write_from_code(workflow, source, facts, actor=ACTOR)
    known = WorkflowVersion.objects.filter(
        workflow=workflow, checksum=mark, kind=VersionKind.PUBLISHED
    ).order_by("-number")
    version = known.defer("source", "definition").first()
    if version is None:
        version = versioning.publish(workflow.pk, actor=ACTOR, from_code=True)
        return CodeVersion(workflow.pk, version.pk, version.number, created=True)
    versioning.make_latest(workflow, version, actor=ACTOR)
    return CodeVersion(workflow.pk, version.pk, version.number, created=False)
