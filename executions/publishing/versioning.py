"""A workflow's draft and its versions. Only this module and `bundle_batch` write users' drafts.

A draft may be saved with problems; a version may not. A version's definition never changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Max
from django.utils.text import slugify

from executions import payloads
from executions.access.actor import Actor, record
from executions.audit.changes import difference, told
from executions.credentials.definition_check import misfits_of_many
from executions.database import transaction
from executions.database.clock import database_now
from executions.definition.catalog import catalog
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import checksum, resolve
from executions.definition.graph.trial import TrialRequest, trial
from executions.definition.graph.validation import DefinitionProblem, problems
from executions.definition.graph.validation import warnings as warnings_of
from executions.definition.limits import limits
from executions.egress.definition_check import unreachable
from executions.errors import InvalidDefinition, NotFound, StaleRevision, Unchanged, ValkyrError
from executions.models import Activity, Workflow, WorkflowVersion, Workspace
from executions.publishing import rollout
from executions.states import VersionKind
from executions.triggers.sync import sync

CHANGEABLE = ("name", "slug", "description", "enabled", "definition")
CHANGES = ("workflow.create", "workflow.update", "workflow.archive")
MAX_DRAFT_BYTES = 1024 * 1024


class SlugTaken(ValkyrError):
    """Another workflow of the workspace has this slug; choose another."""

    code = "slug_taken"


class PublishedFromGit(ValkyrError):
    """The workspace publishes and archives workflows from Git only. Use `valkyr apply`."""

    code = "published_from_git"


class FromCode(ValkyrError):
    """The workflow comes from code: change it there, or copy it and edit the copy."""

    code = "workflow_from_code"


def create_workflow(
    workspace: Workspace,
    *,
    name: str,
    definition: dict[str, Any],
    actor: Actor,
    slug: str | None = None,
    description: str = "",
    enabled: bool = True,
) -> Workflow:
    """Create a workflow with its first draft; without a slug, derive it from the name.

    Raises SlugTaken, and InvalidDefinition for a draft that cannot be stored at all.
    """
    workflow = Workflow(
        workspace=workspace,
        name=name,
        slug=slug or slug_of(name),
        description=description,
        enabled=enabled,
        definition=storable(definition),
        created_at=(now := database_now()),
        updated_at=now,
    )
    with transaction.atomic():
        _insert(workflow)
        _audit(actor, "workflow.create", workflow, after=kept(workflow))
    return workflow


def update_workflow(
    workflow_id: UUID,
    changes: Mapping[str, Any],
    *,
    actor: Actor,
    expected_revision: int | None,
) -> Workflow:
    """Write the changed fields (see CHANGEABLE), and increment the revision.

    Raises NotFound, TypeError for other fields, StaleRevision for an unexpected revision,
    SlugTaken, and FromCode for a change of anything but `enabled` in a workflow from code. Raises
    InvalidDefinition as `create_workflow` does.
    """
    unknown = sorted(set(changes) - set(CHANGEABLE))
    if unknown:
        raise TypeError(f"{unknown} of a workflow cannot be changed; only {CHANGEABLE}.")
    with transaction.atomic():
        workflow = _locked(workflow_id, expected_revision)
        _refuse_from_code(workflow, changes)
        was = kept(workflow)
        for name, value in changes.items():
            setattr(workflow, name, storable(value) if name == "definition" else value)
        workflow.revision += 1
        workflow.updated_at = database_now()
        _save(workflow, [*changes, "revision", "updated_at"])
        before, after = difference(was, kept(workflow))
        _audit(actor, "workflow.update", workflow, before=before, after=after)
    return workflow


def archive_workflow(
    workflow_id: UUID,
    *,
    actor: Actor,
    expected_revision: int | None = None,
    reason: str = "",
) -> Workflow:
    """Archive a workflow: triggers no longer start it; its executions are kept.

    Raises NotFound, StaleRevision, and PublishedFromGit.
    """
    with transaction.atomic():
        workflow = _locked(workflow_id, expected_revision)
        refuse_locked(workflow)
        workflow.archived_at = workflow.updated_at = database_now()
        workflow.revision += 1
        workflow.save(update_fields=["archived_at", "updated_at", "revision"])
        rollout.end_canary(workflow, actor, "The workflow was archived.")
        sync(workflow, None)
        _audit(actor, "workflow.archive", workflow, reason=reason)
    return workflow


def publish(
    workflow_id: UUID,
    *,
    actor: Actor,
    kind: str = VersionKind.PUBLISHED,
    again: int | None = None,
    percent: float | None = None,
) -> WorkflowVersion:
    """Make an immutable version of the draft, fully resolved.

    A published version becomes the latest, and its triggers take effect; a test version has neither
    effect. With `percent`, the version becomes the canary: that share of new executions uses it,
    while the triggers of the latest version remain in effect. A new latest version or canary ends
    an earlier canary. `again` is the number of an earlier published version: its source is
    published again, and the draft does not change. Raises NotFound, InvalidDefinition with the
    problems, Unchanged, FromCode if a user publishes a workflow from code, PublishedFromGit where
    only Git publishes, and NotPublished for a canary if there is no latest version.
    """
    with transaction.atomic():
        workflow = _locked(workflow_id, None)
        if kind == VersionKind.PUBLISHED:
            _refuse_from_code(workflow, {"version": None})
            refuse_locked(workflow)
        source = workflow.definition if again is None else _published_source(workflow, again)
        version = _version(workflow, source, kind, actor)
        if kind == VersionKind.PUBLISHED:
            _refuse_unchanged(workflow, version)
        version.save(force_insert=True)
        if percent is not None:
            rollout.begin_canary(workflow, version, percent, actor)
        elif kind == VersionKind.PUBLISHED:
            rollout.make_latest(workflow, version, actor)
        about: dict[str, Any] = {"version": version.number, "kind": str(kind)}
        about["checksum"] = version.checksum
        if again is not None:
            about["again"] = again
        if percent is not None:
            about["percent"] = percent
        _audit(actor, "workflow.publish", workflow, details=about)
    return version


def publish_trial(
    workflow_id: UUID, definition: Mapping[str, Any] | None, asked: TrialRequest, *, actor: Actor
) -> WorkflowVersion:
    """Make a test version of a definition (by default the draft), or of a part of it.

    The draft does not change. Triggers do not start the version; `start_execution` starts it as its
    `trial`. Raises NotFound, and InvalidDefinition with the problems, whose paths are those in the
    given definition.
    """
    with transaction.atomic():
        workflow = _locked(workflow_id, None)
        made = trial(workflow.definition if definition is None else definition, catalog(), asked)
        found = made.told(check(made.document, workflow.workspace_id, workflow.pk))
        if found:
            raise _unsound(found, "tested")
        version = _version(workflow, made.document, VersionKind.TEST, actor)
        version.save(force_insert=True)
        about = {
            "version": version.number,
            "upTo": asked.up_to,
            "from": asked.start,
            "pinned": sorted(asked.pinned),
        }
        _audit(actor, "workflow.test", workflow, details=about)
    return version


def check(
    definition: Any, workspace_id: UUID | None = None, workflow_id: UUID | None = None
) -> list[DefinitionProblem]:
    """Return the problems that prevent publishing a draft; [] if it can be published.

    Credentials and egress rules are checked only if the workspace is given.
    """
    if workspace_id is None:
        return problems(definition, catalog(), limits())
    return check_many([(definition, workflow_id)], workspace_id)[0].problems


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """A definition's problems, and the credentials that it names but the workspace lacks."""

    problems: list[DefinitionProblem]
    missing_credentials: list[str]


def check_many(
    given: Sequence[tuple[Any, UUID | None]], workspace_id: UUID
) -> list[CheckedDefinition]:
    """Check definitions, each with its workflow's ID, as `check` does.

    Uses at most three queries.
    """
    of_credentials = misfits_of_many(given, catalog(), workspace_id, limits().remote_queues)
    checked = []
    for (definition, _), misfits in zip(given, of_credentials, strict=True):
        found = problems(definition, catalog(), limits())
        found += misfits.problems
        found += unreachable(definition, catalog(), workspace_id)
        checked.append(CheckedDefinition(found, misfits.missing))
    return checked


def warnings(definition: Any) -> list[DefinitionProblem]:
    """Return probable mistakes in a definition, which do not prevent publishing."""
    return warnings_of(definition, catalog())


def checksum_of(definition: dict[str, Any]) -> str:
    """Return the checksum of the version that a valid definition would become."""
    return checksum(resolve(normalise(definition), catalog(), limits()))


def resolved(workflow: Workflow, definition: Any) -> dict[str, Any]:
    """Return a definition as a version of the workflow would store it. Raises InvalidDefinition."""
    return resolve(_sound(definition, workflow, "backtested"), catalog(), limits())


def locked_to_git(workflow: Workflow) -> str:
    """Return the reason why only Git can publish and archive a workflow; "" if there is none."""
    if workflow.origin or not workflow.workspace.publish_from_git:
        return ""
    return (
        f"The workspace {workflow.workspace.slug!r} publishes and archives workflows from Git "
        "only: change the file there and run `valkyr apply`."
    )


def refuse_locked(workflow: Workflow) -> None:
    """Raise PublishedFromGit if only Git can publish and archive a workflow."""
    if why := locked_to_git(workflow):
        raise PublishedFromGit(why)


def _refuse_from_code(workflow: Workflow, changes: Mapping[str, Any]) -> None:
    if workflow.origin and set(changes) - {"enabled"}:
        raise FromCode(
            f"Workflow {workflow.name!r} comes from {workflow.origin_place}: change it there. To "
            "edit it here, take it over: Valkyr creates a copy that is independent of the code."
        )


def _version(workflow: Workflow, source: Any, kind: str, actor: Actor) -> WorkflowVersion:
    """Return the next version, not saved. Raises InvalidDefinition."""
    resolved = resolve(_sound(source, workflow), catalog(), limits())
    return WorkflowVersion(
        workflow=workflow,
        number=_next_number(workflow),
        kind=kind,
        source=source,
        definition=resolved,
        checksum=checksum(resolved),
        published_by_id=actor.user_id,
        created_at=database_now(),
    )


def _published_source(workflow: Workflow, number: int) -> Any:
    """Return the source of a published version. Raises NotFound."""
    rows = workflow.versions.filter(number=number, kind=VersionKind.PUBLISHED)
    source = rows.values_list("source", flat=True).first()
    if source is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {number}.")
    return source


def _sound(definition: Any, workflow: Workflow, what: str = "published") -> dict[str, Any]:
    found = check(definition, workflow.workspace_id, workflow.pk)
    if found:
        raise _unsound(found, what)
    return normalise(definition)


def _unsound(found: list[DefinitionProblem], what: str) -> InvalidDefinition:
    many = "1 problem" if len(found) == 1 else f"{len(found)} problems"
    return InvalidDefinition(f"The definition has {many} and cannot be {what}.", found)


def storable(definition: Any) -> Any:
    """Return the draft unchanged. Raises InvalidDefinition if it cannot be stored at all."""
    try:
        payloads.dump(definition, "definition", MAX_DRAFT_BYTES)
    except ValkyrError as error:
        raise InvalidDefinition(
            error.message, [DefinitionProblem("definition", error.code, error.message)]
        ) from error
    return definition


def _next_number(workflow: Workflow) -> int:
    newest = workflow.versions.aggregate(newest=Max("number"))["newest"]
    return int(newest or 0) + 1


def _refuse_unchanged(workflow: Workflow, version: WorkflowVersion) -> None:
    if workflow.latest_version_id is None:
        return
    latest = WorkflowVersion.objects.filter(pk=workflow.latest_version_id)
    if latest.filter(checksum=version.checksum).exists():
        raise Unchanged(
            f"Nothing has changed since the latest version of {workflow.name!r}, except perhaps "
            "`ui`, so there is nothing to publish."
        )


def _locked(workflow_id: UUID, expected_revision: int | None) -> Workflow:
    workflow = (
        Workflow.objects.select_for_update(no_key=True)
        .filter(pk=workflow_id, archived_at=None)
        .first()
    )
    if workflow is None:
        raise NotFound(f"There is no workflow {workflow_id}.")
    if expected_revision is not None and workflow.revision != expected_revision:
        raise StaleRevision(
            f"Workflow {workflow.name!r} is at revision {workflow.revision}; you changed revision "
            f"{expected_revision}. Fetch it again and repeat your change.",
            {"revision": workflow.revision, **_last_change(workflow)},
        )
    return workflow


def _last_change(workflow: Workflow) -> dict[str, Any]:
    """Return the user and time of the workflow's last change in the audit trail; {} if none."""
    rows = Activity.objects.filter(
        object_id=str(workflow.pk), object_type="Workflow", action__in=CHANGES
    ).order_by("-created_at", "-id")
    found = rows.values_list("actor_name", "created_at").first()
    return {} if found is None else {"changedBy": found[0], "changedAt": found[1]}


def _insert(workflow: Workflow) -> None:
    try:
        with transaction.atomic():
            workflow.save(force_insert=True)
    except IntegrityError as error:
        raise _slug_taken(workflow) from error


def _save(workflow: Workflow, fields: list[str]) -> None:
    try:
        with transaction.atomic():
            workflow.save(update_fields=fields)
    except IntegrityError as error:
        raise _slug_taken(workflow) from error


def _slug_taken(workflow: Workflow) -> SlugTaken:
    return SlugTaken(
        f"Another workflow of this workspace has the slug {workflow.slug!r}. Give a `slug` of your "
        "own, or change the other workflow."
    )


def slug_of(name: str) -> str:
    """Return the default slug of a workflow with this name."""
    return slugify(name)[:80].strip("-") or "workflow"


def kept(workflow: Workflow) -> dict[str, Any]:
    """Return a workflow's values for the audit trail, with a checksum in place of the draft."""
    draft = payloads.digest(payloads.dump(workflow.definition, "definition", MAX_DRAFT_BYTES))
    plain = {name: getattr(workflow, name) for name in CHANGEABLE if name != "definition"}
    return told(plain) | {"revision": workflow.revision, "draftChecksum": draft}


def _audit(actor: Actor, action: str, workflow: Workflow, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=workflow.workspace_id,
        object_type="Workflow",
        object_id=workflow.pk,
        **what,
    )
