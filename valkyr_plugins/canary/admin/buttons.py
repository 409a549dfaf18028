"""The buttons of workflows and canaries."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from executions.public.access import Actor
from executions.public.admin import AdminOperation, links
from executions.public.language import lazy
from valkyr_plugins.canary import operations
from valkyr_plugins.canary.admin.forms import CanaryForm, ChangeForm, RollbackForm
from valkyr_plugins.canary.models import Canary, CanaryState, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule


def _asked(data: Mapping[str, Any]) -> dict[str, Any]:
    rule = StopRule(**{k: data[k] for k in ("at_least", "failure_rate", "slower", "new_group")})
    asked = {"rule": rule, **data}
    if "promote_hours" in data:
        hours = data["promote_hours"]
        asked["promote_after"] = None if hours is None else hours * 3_600
    return asked


def _begin(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Canary:
    made: Canary = operations.BEGIN.apply(pk, actor, _asked(data))
    return made


def _change(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Canary:
    changed: Canary = operations.CHANGE.apply(pk, actor, _asked(data))
    return changed


def _withdraw(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> VersionRollback:
    """Roll back the version of a canary, even if the canary has ended."""
    canary = Canary.objects.select_related("version").only("workflow_id", "version__number")
    row = canary.get(pk=pk)
    given = {**data, "version": row.version.number}
    made: VersionRollback = operations.ROLL_BACK.apply(row.workflow_id, actor, given)
    return made


def _refuse_promoted(row: Canary) -> str:
    ended_well = row.state == CanaryState.PROMOTED and row.version.withdrawn_at is None
    is_latest = row.workflow.latest_version_id == row.version_id
    return gettext("A later version was published.") if ended_well and not is_latest else ""


def canary_page(canary: Canary) -> str:
    """Return the address of a canary's page."""
    return links.page("valkyr_canary_canary", canary.pk)


def _rollback_page(rollback: VersionRollback) -> str:
    return links.page("valkyr_canary_versionrollback", rollback.pk)


BEGIN = AdminOperation(
    replace(operations.BEGIN, apply=_begin),
    title=lazy("Publish canary…"),
    icon="science",
    done=lazy("published as a canary"),
    question=lazy(
        "Publishes the draft for a share of new executions. The others use the latest version, "
        "whose triggers stay in effect."
    ),
    form=CanaryForm,
    bulk=False,
    destination=canary_page,
)
ROLL_BACK = AdminOperation(
    operations.ROLL_BACK,
    title=lazy("Roll back…"),
    icon="undo",
    done=lazy("rolled back"),
    question=lazy(
        "Withdraws the running canary or, if there is none, the latest version. New executions and "
        "triggers use the previous version immediately."
    ),
    form=RollbackForm,
    danger=True,
    bulk=False,
    destination=_rollback_page,
)
PROMOTE = AdminOperation(
    operations.PROMOTE,
    title=lazy("Promote…"),
    icon="arrow_upward",
    done=lazy("promoted"),
    question=lazy("Makes the canary the latest version. All new executions and triggers use it."),
    primary=True,
    bulk=False,
)
STOP = AdminOperation(
    operations.STOP,
    title=lazy("Stop canary…"),
    icon="block",
    done=lazy("stopped"),
    question=lazy(
        "All new executions use the latest version again. Executions on the canary continue."
    ),
    danger=True,
    bulk=False,
)
CHANGE = AdminOperation(
    replace(operations.CHANGE, apply=_change),
    title=lazy("Change canary…"),
    icon="tune",
    done=lazy("changed"),
    question=lazy(
        "Replaces the share, the stop rule and the promotion time with these values. If you "
        "increase the share, keys that already use the canary keep using it."
    ),
    form=ChangeForm,
    bulk=False,
)
WITHDRAW = AdminOperation(
    replace(operations.ROLL_BACK, name="withdraw", apply=_withdraw, refuse=_refuse_promoted),
    title=lazy("Roll back…"),
    icon="undo",
    done=lazy("rolled back"),
    question=lazy(
        "Withdraws the version if new executions still use it. Then leaves, cancels or forks the "
        "executions that started on it."
    ),
    form=RollbackForm,
    danger=True,
    bulk=False,
    destination=_rollback_page,
)
