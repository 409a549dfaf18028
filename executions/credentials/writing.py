"""Create, change and delete credentials.

Users' changes to credentials are made only here, and each is audited. The audit trail contains the
names of fields and the boundary, but never the values of fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F, Q, TextField
from django.db.models.functions import Cast

from executions import addresses, sealing
from executions.access.actor import Actor, record
from executions.credentials.boundary import ANY, MOST, CredentialLimits, problems_of, stored
from executions.credentials.issuing import CredentialSource, Issued
from executions.credentials.kinds import (
    KINDS,
    CredentialInUse,
    NameTaken,
    checked,
    checked_changes,
    refuse_whole,
    suggested_hosts,
    suggested_modules,
)
from executions.credentials.opening import BOUNDARY, ISSUED, closed, opened
from executions.credentials.rotating import seal_issued, without_issued
from executions.database import transaction
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import NotFound, StaleRevision
from executions.models import Credential, Workflow, WorkflowVersion, Workspace
from executions.sealing import SealBroken

# Find the published workflows that name a credential.


MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class CredentialReference:
    """A latest or canary version that names the credential, and its workflow."""

    workflow_id: UUID
    workflow: str
    version: int


def naming(credential: Credential) -> list[CredentialReference]:
    """Return the latest and canary versions that name the credential, ordered by workflow name.

    Archived workflows are left out. The result has at most one row more than a message lists. The
    search reads the versions as text, so similar text also matches: a false match is better than a
    workflow that fails.
    """
    latest = (
        WorkflowVersion.objects.filter(
            workflow__workspace_id=credential.workspace_id,
            workflow__archived_at=None,
        )
        .filter(Q(pk=F("workflow__latest_version")) | Q(pk=F("workflow__canary_version")))
        .annotate(text=Cast("definition", TextField()))
        .filter(text__regex=_pattern(credential.name))
        .order_by("workflow__name", "pk")
    )
    rows = latest.values_list("workflow_id", "workflow__name", "number")
    return [CredentialReference(*row) for row in rows[: MOST_LISTED + 1]]


def _pattern(name: str) -> str:
    """Return PostgreSQL's regex for `secrets.<name>` and `"credential": "<name>"` in JSON."""
    quote = r"""\\?["']"""
    member = rf"""\msecrets\s*(\.\s*{name}\M|\[\s*{quote}{name}{quote}\s*\])"""
    return rf"""{member}|"credential":\s*"{name}\""""


def create(
    workspace: Workspace,
    *,
    name: str,
    type: str,  # noqa: A002 - the field's name
    fields: Mapping[str, Any],
    actor: Actor,
    description: str = "",
    **limits: Unpack[CredentialLimits],
) -> Credential:
    """Create a credential; its name and type never change.

    `hosts`, `modules` and `workflows` are its boundary. If omitted, hosts and modules are those
    that the type suggests, and all workflows are allowed; hosts are required if the type suggests
    none. Raises InvalidCredential with every problem, NameTaken, and sealing's errors.
    """
    suggested = {
        "hosts": _suggested_hosts(type, fields),
        "modules": suggested_modules(type),
        "workflows": [ANY],
    }
    asked = suggested | {name: value for name, value in limits.items() if value is not None}
    found = [*problems_of(asked), *unknown_workflows(workspace.pk, asked["workflows"])]
    values = checked(type, name, fields, found)
    sealing.prepare()
    pk = UUID(str(uuid7()))
    with transaction.atomic():
        sealed = closed(pk, values)
        credential = Credential(
            id=pk,
            workspace=workspace,
            name=name,
            type=type,
            description=description,
            fields=sorted(values),
            remote=bool(limits.get("remote")),
            **stored(asked),
            sealed=sealed.value,
            key_id=sealed.key_id,
            created_by=actor.name[:200],
            created_at=(now := database_now()),
            updated_at=now,
        )
        _insert(credential)
        after = {"name": name, "type": type, "fields": sorted(values), **_boundary(credential)}
        _audit(actor, "credential.create", credential, after=after)
    return credential


def update(
    credential_id: UUID,
    *,
    actor: Actor,
    fields: Mapping[str, Any] | None = None,
    description: str | None = None,
    expected_version: int | None = None,
    **limits: Unpack[CredentialLimits],
) -> Credential:
    """Set the given fields and keep the others; None removes a field that is not required.

    If no hosts are given and the current hosts are those that the old fields suggest, the hosts
    that the new fields suggest replace them.

    Raises NotFound, StaleRevision, InvalidCredential with every problem, and sealing's errors.
    """
    if fields:
        sealing.prepare()
    with transaction.atomic():
        credential = _locked(credential_id, expected_version)
        before = {"fields": sorted(credential.fields), **_boundary(credential)}
        found = [
            *problems_of(limits),
            *unknown_workflows(credential.workspace_id, limits.get("workflows")),
        ]
        given = checked_changes(credential.type, credential.fields, fields or {}, found)
        if fields:
            _set(credential, fields, given)
        for list_name, entries in stored(limits).items():
            setattr(credential, list_name, entries)
        credential.remote = limits.get("remote", credential.remote)
        if description is not None:
            credential.description = description
        credential.version += 1
        credential.updated_at = database_now()
        credential.save(
            update_fields=[
                "description", "fields", "sealed", "key_id", "version", "updated_at",
                "issued_until", *BOUNDARY,
            ]
        )  # fmt: skip
        _audit(
            actor,
            "credential.update",
            credential,
            before=before,
            after={"fields": credential.fields, **_boundary(credential)},
            details={"set": sorted(fields or ()), "described": description is not None},
        )
    return credential


def source_of(credential: Credential) -> CredentialSource:
    """Return the opened credential as the source of issued values. Raises sealing's errors."""
    fields = without_issued(opened(credential.pk, credential.sealed))
    return CredentialSource(
        credential.pk, credential.name, credential.version, credential.workspace_id, fields
    )


def connect(source: CredentialSource, found: Issued, *, actor: Actor, details: Any = None) -> None:
    """Store the fields and the short-lived values that a provider issued after a user's consent.

    Raises NotFound, StaleRevision if the credential was changed since it was read, and sealing's
    errors.
    """
    sealing.prepare()
    with transaction.atomic():
        credential = _locked(source.id, source.version)
        before = {"fields": sorted(credential.fields)}
        fields = source.fields | dict(found.store)
        seal_issued(credential, fields, found)
        credential.fields = sorted(fields)
        credential.version += 1
        credential.updated_at = database_now()
        credential.refreshing_until = None
        credential.save(
            update_fields=[
                "fields", "sealed", "key_id", "issued_until", "version", "updated_at",
                "refreshing_until",
            ]
        )  # fmt: skip
        _audit(
            actor,
            "credential.connect",
            credential,
            before=before,
            after={"fields": credential.fields},
            details={"set": sorted(found.store), **(details or {})},
        )


def delete(
    credential_id: UUID, *, actor: Actor, expected_version: int | None = None, reason: str = ""
) -> None:
    """Delete a credential that no published workflow names.

    Raises NotFound, StaleRevision, and CredentialInUse with the workflows.
    """
    with transaction.atomic():
        credential = _locked(credential_id, expected_version)
        _refuse_named(credential)
        before = {
            "name": credential.name,
            "type": credential.type,
            "fields": sorted(credential.fields),
            **_boundary(credential),
        }
        _audit(actor, "credential.delete", credential, before=before, reason=reason)
        credential.delete()


def is_taken(workspace_id: UUID, name: str) -> bool:
    """Return whether the workspace has a credential of that name."""
    return Credential.objects.filter(workspace_id=workspace_id, name=name).exists()


def _set(credential: Credential, fields: Mapping[str, Any], given: Mapping[str, str]) -> None:
    kept = _kept(credential, fields)
    # Drop the issued values, because a new secret is used to issue new ones.
    values = {name: kept[name] for name in kept if name not in fields and name != ISSUED}
    values |= given
    refuse_whole(credential.type, values)
    suggested = suggested_hosts(credential.type, kept)
    if suggested and list(suggested) == credential.hosts:
        credential.hosts = list(suggested_hosts(credential.type, values) or suggested)
    sealed = closed(credential.pk, values)
    credential.sealed, credential.key_id = sealed.value, sealed.key_id
    credential.fields, credential.issued_until = sorted(values), None


def _kept(credential: Credential, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the current values; {} if all are replaced and the old values are unreadable."""
    try:
        return opened(credential.pk, credential.sealed)
    except SealBroken:
        if set(credential.fields) - set(fields):
            raise
        return {}


def _suggested_hosts(kind: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the hosts that the type and the text fields suggest; any host for an unknown type.

    Other fields and an unknown type are ignored here; `checked` reports them as problems.
    """
    if kind not in KINDS:
        return (ANY,)  # `checked` reports the unknown type
    texts = {name: text for name, text in fields.items() if isinstance(text, str)}
    return suggested_hosts(kind, texts)


def unknown_workflows(workspace_id: UUID, given: Any) -> list[DefinitionProblem]:
    """Return a problem for each ID of a workflow that this workspace does not have."""
    if not isinstance(given, list | tuple) or len(given) > MOST:
        return []
    places = {index: pk for index, text in enumerate(given) if (pk := _id(text)) is not None}
    if not places:
        return []
    rows = Workflow.objects.filter(workspace_id=workspace_id, pk__in=list(places.values()))
    known = set(rows.values_list("pk", flat=True))
    return [
        DefinitionProblem(
            f"workflows[{index}]", "unknown_workflow", f"There is no workflow {pk} here."
        )
        for index, pk in places.items()
        if pk not in known
    ]


def _id(text: Any) -> UUID | None:
    try:
        return UUID(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _boundary(credential: Credential) -> dict[str, Any]:
    return {name: getattr(credential, name) for name in BOUNDARY}


def _locked(credential_id: UUID, expected_version: int | None) -> Credential:
    rows = Credential.objects.select_for_update(no_key=True)
    credential = rows.filter(pk=credential_id).first()
    if credential is None:
        raise NotFound(f"There is no credential {credential_id}.")
    if expected_version is not None and credential.version != expected_version:
        raise StaleRevision(
            f"Credential {credential.name!r} is at version {credential.version}; you changed "
            f"version {expected_version}. Fetch it again and repeat your change."
        )
    return credential


def _insert(credential: Credential) -> None:
    try:
        with transaction.atomic():
            credential.save(force_insert=True)
    except IntegrityError:
        raise NameTaken(
            f"This workspace already has a credential {credential.name!r}. Change it, or choose "
            "another name."
        ) from None


def _refuse_named(credential: Credential) -> None:
    found = naming(credential)
    if not found:
        return
    listed = found[:MOST_LISTED]
    names = ", ".join(f"{one.workflow!r} (version {one.version})" for one in listed)
    more = ", and others" if len(found) > MOST_LISTED else ""
    raise CredentialInUse(
        f"Credential {credential.name!r} is named by the published workflows {names}{more}. "
        "Publish them without it or archive them, then delete it.",
        [
            DefinitionProblem(
                addresses.api("workflow", one.workflow_id), "names_it", f"{one.workflow} names it."
            )
            for one in listed
        ],
    )


def _audit(actor: Actor, action: str, credential: Credential, **more: Any) -> None:
    record(
        actor,
        action,
        workspace_id=credential.workspace_id,
        object_type="Credential",
        object_id=credential.pk,
        **more,
    )
