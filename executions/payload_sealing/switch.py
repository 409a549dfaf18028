"""Turn the sealing of a workspace's payloads on and off, rotate its key, and remove old keys."""

from collections.abc import Callable
from uuid import UUID

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.errors import NotFound, WrongState
from executions.models import StoredPayload, Workspace
from executions.payload_sealing.walk import WalkResult, walk
from executions.sealing import payload_keys, prepare

OBJECT = "Workspace"
# Plugins that keep sealed copies of rows add a function. Given the workspace and its current key (0
# if none), it returns why old keys are still needed, or "".
KEY_HOLDERS: list[Callable[[UUID, int], str]] = []


def turn_on(workspace_id: UUID, *, actor: Actor, reason: str = "") -> int:
    """Seal the workspace's payloads from now on; return the ID of the new key.

    Raises NotFound, WrongState if the payloads are sealed already, and the errors of `prepare`.
    """
    return _new_key(workspace_id, "payloads.seal", actor, reason, sealed=False)


def rotate(workspace_id: UUID, *, actor: Actor, reason: str = "") -> int:
    """Seal with a new key from now on, and return its ID; older keys still open old values.

    Raises NotFound, WrongState if the payloads are not sealed, and the errors of `prepare`.
    """
    return _new_key(workspace_id, "payloads.rotate", actor, reason, sealed=True)


def turn_off(workspace_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Store the workspace's payloads unsealed from now on.

    Raises NotFound, and WrongState if the workspace does not seal them.
    """
    with transaction.atomic():
        _locked(workspace_id)
        before = payload_keys.current(workspace_id)
        if not payload_keys.stop(workspace_id):
            raise WrongState("The workspace does not seal its payloads.", "off")
        _audit(workspace_id, "payloads.open", actor, reason, before, None)


def remove_old_keys(workspace_id: UUID, *, actor: Actor, reason: str = "") -> list[int]:
    """Delete the keys that no longer seal new values, and return their IDs.

    First checks all rows. Raises WrongState, and deletes no key, if a row must be resealed or does
    not open, or a stored value or a plugin needs an old key. Raises the errors of `walk`.
    """
    found = walk(workspace_id, only_look=True)
    if found.changed or found.broken:
        raise WrongState(
            f"{found.changed} rows are not in the workspace's present state, and {found.broken} do "
            "not open. Run `manage.py payload_keys reseal` first; no key was removed.",
            "sealed",
        )
    current = payload_keys.current(workspace_id) or 0
    old = StoredPayload.objects.filter(workspace_id=workspace_id).exclude(
        sealing_key__in=(0, current)
    )
    if old.exists():
        raise WrongState(
            "Values in the payload store are sealed with an old key, and are not sealed again. No "
            "key was removed. Retry after retention has deleted their executions.",
            "sealed",
        )
    for needed in KEY_HOLDERS:
        if why := needed(workspace_id, current):
            raise WrongState(f"{why} No key was removed.", "sealed")
    with transaction.atomic():
        _locked(workspace_id)
        removed = payload_keys.remove_old(workspace_id)
        if removed:
            record(
                actor,
                "payloads.retire",
                workspace_id=workspace_id,
                object_type=OBJECT,
                object_id=workspace_id,
                reason=reason,
                before={"keys": removed},
                after={"keys": []},
            )
    payload_keys.forget()
    return removed


def reseal(
    workspace_id: UUID, *, actor: Actor, reason: str = "", tell: object = None
) -> WalkResult:
    """Seal or unseal all rows as the workspace now requires; write an audit row; see `walk`."""
    found = walk(workspace_id, tell=tell if callable(tell) else None)
    record(
        actor,
        "payloads.reseal",
        workspace_id=workspace_id,
        object_type=OBJECT,
        object_id=workspace_id,
        reason=reason,
        details={"rows": found.changed, "broken": found.broken},
    )
    return found


def _new_key(workspace_id: UUID, action: str, actor: Actor, reason: str, *, sealed: bool) -> int:
    prepare()  # before the lock, because it may call a KMS
    with transaction.atomic():
        _locked(workspace_id)
        before = payload_keys.current(workspace_id)
        if (before is not None) is not sealed:
            state = "already seals" if before is not None else "does not seal"
            raise WrongState(
                f"The workspace {state} its payloads.", "on" if before is not None else "off"
            )
        made = payload_keys.make(workspace_id)
        _audit(workspace_id, action, actor, reason, before, made)
    return made


def _locked(workspace_id: UUID) -> None:
    rows = Workspace.objects.select_for_update(no_key=True).filter(pk=workspace_id)
    if not rows.values_list("pk", flat=True):
        raise NotFound(f"There is no workspace {workspace_id}.")


def _audit(
    workspace_id: UUID,
    action: str,
    actor: Actor,
    reason: str,
    before: int | None,
    after: int | None,
) -> None:
    record(
        actor,
        action,
        workspace_id=workspace_id,
        object_type=OBJECT,
        object_id=workspace_id,
        reason=reason,
        before={"payloadKey": before},
        after={"payloadKey": after},
    )
