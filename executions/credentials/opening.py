"""Open a workspace's credentials for steps, by name, with their boundaries.

opened_for(step, names)    for a step that runs; the statement that reads also records the use
refuse(step, uses, reason)  correct that record if the step gets none of the credentials
opened_of(workspace, names)    without a step, and without a record
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from executions.credentials.boundary import Boundary
from executions.database import connection, statements
from executions.database.ids import uuid7
from executions.models import Credential, CredentialUse
from executions.sealing import KeyUnknown, Sealed, SealingError, place_of, seal, unseal

# The sealed column of a credential contains its fields as a JSON object, and is bound to its row.


def closed(credential_id: UUID, fields: dict[str, str]) -> Sealed:
    """Return a credential's fields, sealed for its row.

    Call this in the transaction that stores them.
    """
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return seal(text.encode(), place_of(Credential(pk=credential_id)))


def opened(credential_id: UUID, sealed: bytes | memoryview) -> dict[str, str]:
    """Return a credential's opened fields. Raises the errors of `sealing.unseal`."""
    fields: dict[str, str] = json.loads(unseal(sealed, place_of(Credential(pk=credential_id))))
    return fields


BOUNDARY = ("hosts", "modules", "workflows", "remote")
ISSUED = "_issued"  # a hidden field with the last issued values and their expiry
LONGEST_REASON, LONGEST_HOST = 1_000, 300


@dataclass(frozen=True, slots=True, repr=False)
class OpenedCredential:
    """The fields of a credential, and its boundary; `use_id` is the ID of the recorded use."""

    fields: dict[str, str]
    boundary: Boundary
    id: UUID
    version: int
    type: str
    use_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class UsingStep:
    """The step that requests credentials, as it appears in the record of their use.

    `host` is the host to which the step connects, if known; `remote` says that a remote runner
    requests them.
    """

    workspace_id: UUID
    workflow_id: UUID
    execution_id: UUID
    run_id: UUID
    path: str
    attempt: int
    module: str
    host: str = ""
    remote: bool = False


def opened_for(step: UsingStep, names: Collection[str]) -> dict[str, OpenedCredential]:
    """Return a step's credentials, keyed by name, and record their use; omit unknown names.

    Usually uses one statement. Raises SealBroken for an unreadable value, and the errors of
    `sealing.unseal`.
    """
    if not names:
        return {}
    wanted = sorted(names)
    ids = [UUID(str(uuid7())) for _ in wanted]
    rows = statements.fetch(
        "use_credentials",
        {
            "workspace": step.workspace_id,
            "names": wanted,
            "ids": ids,
            "workflow": step.workflow_id,
            "execution": step.execution_id,
            "run": step.run_id,
            "path": step.path,
            "attempt": step.attempt,
            "module": step.module[:100],
            "remote": step.remote,
            "host": step.host[:LONGEST_HOST],
            "alone": not connection.in_atomic_block,
        },
    )
    try:
        return {row[0]: _used(*row) for row in rows}
    except KeyUnknown:
        # Between the read of the value and the opening of the keyset, the value was resealed and
        # its old key retired. The statement has already recorded the uses.
        uses = {row[0]: row[1] for row in rows}
        again = _again(step, names, ids)
        return {name: replace(one, use_id=uses.get(name)) for name, one in again.items()}
    except SealingError as error:
        refuse(step, ids, error.message)
        raise


def _again(
    step: UsingStep, names: Collection[str], uses: Iterable[UUID]
) -> dict[str, OpenedCredential]:
    try:
        return _opened(step.workspace_id, names)
    except SealingError as error:
        refuse(step, uses, error.message)
        raise


def _used(
    name: str, use_id: UUID, pk: UUID, version: int, kind: str, sealed: Any, *rest: Any
) -> OpenedCredential:
    """Return the credential that a row of the statement holds; the row's lists are JSON strings."""
    hosts, modules, workflows, remote, _ = rest
    lists = [json.loads(text) for text in (hosts, modules, workflows)]
    boundary = _boundary(lists[0], lists[1], lists[2], remote)
    return OpenedCredential(opened(pk, sealed), boundary, pk, version, kind, use_id)


def refuse(step: UsingStep, uses: Iterable[UUID | None], reason: str) -> None:
    """Record that a step received none of the credentials that it read."""
    ids = [pk for pk in uses if pk is not None]
    if ids:
        rows = CredentialUse.objects.filter(pk__in=ids, execution_id=step.execution_id)
        rows.update(allowed=False, reason=reason[:LONGEST_REASON])


def note_refused(
    step: UsingStep,
    name: str,
    reason: str,
    *,
    credential: OpenedCredential | None = None,
    host: str = "",
) -> None:
    """Record a credential that a step did not receive, or a connection that was rejected."""
    CredentialUse.objects.create(
        workspace_id=step.workspace_id,
        credential_id=None if credential is None else credential.id,
        name=name[:80],
        version=None if credential is None else credential.version,
        workflow_id=step.workflow_id,
        execution_id=step.execution_id,
        run_id=step.run_id,
        step_path=step.path,
        attempt=step.attempt,
        module=step.module[:100],
        remote=step.remote,
        host=(host or step.host)[:LONGEST_HOST],
        allowed=False,
        reason=reason[:LONGEST_REASON],
    )


def opened_of(workspace_id: UUID, names: Collection[str]) -> dict[str, OpenedCredential]:
    """Return credentials by name, except unknown names; record no use. Usually uses one query.

    Raises SealBroken for an unreadable value, and the errors of `sealing.unseal`.
    """
    if not names:
        return {}
    try:
        return _opened(workspace_id, names)
    except KeyUnknown:
        return _opened(workspace_id, names)  # resealed in the meantime, as in `opened_for`


def values_of(workspace_id: UUID, names: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the fields of each credential, keyed by its name. Raises the errors of `opened_of`."""
    return {name: one.fields for name, one in opened_of(workspace_id, names).items()}


def boundaries_of(workspace_id: UUID, names: Collection[str]) -> dict[str, Boundary]:
    """Return the boundaries of credentials, keyed by name; unknown names are omitted."""
    if not names:
        return {}
    rows = Credential.objects.filter(workspace_id=workspace_id, name__in=names)
    return {name: _boundary(*lists) for name, *lists in rows.values_list("name", *BOUNDARY)}


def _opened(workspace_id: UUID, names: Collection[str]) -> dict[str, OpenedCredential]:
    rows = Credential.objects.filter(workspace_id=workspace_id, name__in=names)
    return {
        name: OpenedCredential(opened(pk, sealed), _boundary(*lists), pk, version, kind)
        for pk, name, version, kind, sealed, *lists in rows.values_list(
            "id", "name", "version", "type", "sealed", *BOUNDARY
        )
    }


def _boundary(hosts: Any, modules: Any, workflows: Any, remote: bool) -> Boundary:
    return Boundary(tuple(hosts), tuple(modules), tuple(workflows), remote)
