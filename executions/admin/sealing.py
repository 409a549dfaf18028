"""Start or stop sealing a workspace's payloads, and rotate its key, on the workspace's page."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.powers import Action
from executions.admin.operations import AdminOperation
from executions.language import lazy
from executions.models import Workspace
from executions.payload_sealing import switch
from executions.sealing import payload_keys


def _seal(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    switch.turn_on(pk, actor=actor, reason=data["reason"])


def _rotate(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    switch.rotate(pk, actor=actor, reason=data["reason"])


def _stop(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    switch.turn_off(pk, actor=actor, reason=data["reason"])


def seals(workspace: Workspace) -> bool:
    """Return whether new payloads of the workspace are sealed. Uses one query."""
    return payload_keys.current(workspace.pk) is not None


def _if_clear(row: Any) -> str:
    return gettext("The workspace already seals its payloads.") if seals(row) else ""


def _if_sealed(row: Any) -> str:
    return "" if seals(row) else gettext("The workspace does not seal its payloads.")


SEAL = AdminOperation(
    Operation(name="seal_payloads", apply=_seal, needs=Action.ADMINISTER, refuse=_if_clear),
    title=lazy("Seal payloads…"),
    icon="key",
    done=lazy("set to seal payloads"),
    question=lazy(
        "New inputs, outputs, variables, errors and logs are encrypted in the database with a key "
        "of the workspace. To encrypt stored ones, run “manage.py payload_keys reseal WORKSPACE” "
        "afterwards. Without the installation key, sealed payloads are lost."
    ),
    bulk=False,
)
ROTATE = AdminOperation(
    Operation(name="rotate_payload_key", apply=_rotate, needs=Action.ADMINISTER, refuse=_if_sealed),
    title=lazy("Rotate payload key…"),
    icon="autorenew",
    done=lazy("payload key rotated"),
    question=lazy(
        "A new key seals payloads from now on. Stored payloads keep their keys until you run "
        "“manage.py payload_keys reseal WORKSPACE”."
    ),
    bulk=False,
)
STOP = AdminOperation(
    Operation(name="stop_sealing", apply=_stop, needs=Action.ADMINISTER, refuse=_if_sealed),
    title=lazy("Stop sealing payloads…"),
    icon="key_off",
    done=lazy("set to store payloads in the clear"),
    question=lazy(
        "New payloads are stored in the clear. Sealed payloads stay sealed, and users can still "
        "read them. To decrypt them, run “manage.py payload_keys reseal WORKSPACE”."
    ),
    danger=True,
    bulk=False,
)
