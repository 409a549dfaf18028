"""Users' operations on canaries and rollbacks, for the admin and the API."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from executions.public.access import Action, Actor, Operation
from executions.public.models import Workflow
from executions.public.publishing import versioning
from valkyr_plugins.canary import lifecycle, settling
from valkyr_plugins.canary.lifecycle import CanaryWish
from valkyr_plugins.canary.models import Canary, CanaryState, Treatment, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule

Data = Mapping[str, Any]


def _begin(pk: UUID, actor: Actor, data: Data) -> Canary:
    """Publish the draft, or `version` again, for `percent` of new executions."""
    wish = CanaryWish(
        percent=data["percent"],
        rule=data.get("rule", StopRule()),
        promote_after=data.get("promote_after"),
        again=data.get("version"),
        reason=data.get("reason", ""),
    )
    return lifecycle.begin(pk, wish, actor=actor)


def _change(pk: UUID, actor: Actor, data: Data) -> Canary:
    changes = {name: data[name] for name in ("percent", "rule", "promote_after") if name in data}
    return lifecycle.change(pk, changes, actor=actor, reason=data.get("reason", ""))


def _promote(pk: UUID, actor: Actor, data: Data) -> Canary:
    return lifecycle.promote(pk, actor=actor, reason=data.get("reason", ""))


def _stop(pk: UUID, actor: Actor, data: Data) -> Canary:
    return lifecycle.stop(pk, actor=actor, reason=data.get("reason", ""))


def _roll_back(pk: UUID, actor: Actor, data: Data) -> VersionRollback:
    return settling.roll_back(
        pk,
        actor=actor,
        number=data.get("version"),
        treatment=data.get("executions", Treatment.LEAVE),
        reason=data.get("reason", ""),
    )


def _refuse_over(row: Canary) -> str:
    return "" if row.state == CanaryState.RUNNING else gettext("The canary has ended.")


def _refuse_promotion(row: Canary) -> str:
    return _refuse_over(row) or versioning.locked_to_git(row.workflow)


def _refuse_begin(row: Workflow) -> str:
    return _refuse_rollback(row) or versioning.locked_to_git(row)


def _refuse_rollback(row: Workflow) -> str:
    """Return the reason for rejecting a rollback; "" if it is allowed.

    A rollback is allowed even where only Git publishes.
    """
    if row.origin:
        return gettext("This workflow is published by its code.")
    return "" if row.latest_version_id else gettext("Publish the workflow first.")


BEGIN = Operation(name="canary", apply=_begin, needs=Action.AUTHOR, refuse=_refuse_begin)
ROLL_BACK = Operation(
    name="roll_back", apply=_roll_back, needs=Action.AUTHOR, refuse=_refuse_rollback
)
CHANGE = Operation(name="set_share", apply=_change, needs=Action.AUTHOR, refuse=_refuse_over)
PROMOTE = Operation(name="promote", apply=_promote, needs=Action.AUTHOR, refuse=_refuse_promotion)
STOP = Operation(name="stop", apply=_stop, needs=Action.OPERATE, refuse=_refuse_over)
