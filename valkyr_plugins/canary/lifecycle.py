"""Begin, change and end canaries. Only this module writes their state.

Each way to end a canary first removes its share from the workflow's row. The statement names the
version and locks the row. The caller whose statement succeeds writes the canary's state; other
callers change nothing.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from executions.public import addresses
from executions.public.access import Actor, record
from executions.public.conditions import ReportedCondition, condition_began
from executions.public.database import ClockTimestamp, database_now, transaction
from executions.public.errors import NotFound, WrongState
from executions.public.events import canary_ended
from executions.public.models import Workflow
from executions.public.publishing import rollout, versioning
from valkyr_plugins.canary import figures
from valkyr_plugins.canary.models import MOVES, Canary, CanaryState
from valkyr_plugins.canary.stop_rule import StopRule

STOPPED = "CANARY_STOPPED"  # the condition that alerts report when a rule stopped a canary
ENGINE = Actor.system("canary rule")
# The large columns of both versions, which queries defer.
TEXTS = ("version__source", "version__definition", "latest__source", "latest__definition")


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryWish:
    """The draft or the earlier version (`again`) to publish as a canary, and its conditions.

    If `rule` is None, the canary never stops automatically. `promote_after` is in seconds.
    """

    percent: float
    rule: StopRule | None
    promote_after: float | None = None
    again: int | None = None
    reason: str = ""


def begin(workflow_id: UUID, wish: CanaryWish, *, actor: Actor) -> Canary:
    """Publish a version as the workflow's canary; an earlier canary ends.

    Raises the errors of `publish`.
    """
    with transaction.atomic():
        version = versioning.publish(
            workflow_id, actor=actor, again=wish.again, percent=wish.percent
        )
        workflow = version.workflow
        assert workflow.latest_version_id is not None, "publishing requires it"
        now = database_now()
        canary = Canary.objects.create(
            workspace_id=workflow.workspace_id,
            workflow=workflow,
            version=version,
            latest_id=workflow.latest_version_id,
            percent=wish.percent,
            stop=None if wish.rule is None else asdict(wish.rule),
            promote_at=_later(now, wish.promote_after),
            created_by_name=actor.name[:200],
            created_at=now,
        )
        _note(canary, "canary.begin", actor, wish.reason, after=_settings(canary))
    return canary


def change(
    canary_id: UUID, changes: Mapping[str, Any], *, actor: Actor, reason: str = ""
) -> Canary:
    """Change the share, the stop rule or the promotion time of a running canary.

    `changes` can contain `percent`, `rule` (a StopRule or None) and `promote_after` (seconds from
    now, or None). Raises NotFound, WrongState, and PublishedFromGit if the share is raised where
    only Git publishes.
    """
    with transaction.atomic():
        canary = _get(canary_id)
        percent = changes.get("percent", canary.percent)
        if percent > canary.percent:
            versioning.refuse_locked(_published(canary))
        if not rollout.set_share(canary.workflow_id, canary.version_id, percent):
            raise _over(canary)
        before = _settings(canary)
        canary.percent = percent
        if "rule" in changes:
            canary.stop = None if changes["rule"] is None else asdict(changes["rule"])
        if "promote_after" in changes:
            canary.promote_at = _later(database_now(), changes["promote_after"])
        canary.save(update_fields=["percent", "stop", "promote_at"])
        _note(canary, "canary.change", actor, reason, before=before, after=_settings(canary))
    return canary


def stop(canary_id: UUID, *, actor: Actor, reason: str = "") -> Canary:
    """Stop a canary: all new executions use the latest version; executions on the canary continue.

    Raises NotFound or WrongState.
    """
    with transaction.atomic():
        canary = _get(canary_id)
        if not rollout.withdraw(canary.workflow_id, canary.version_id):
            raise _over(canary)
        _end(canary, CanaryState.STOPPED, actor, reason)
        if actor is ENGINE:
            condition_began.send(Canary, condition=_condition(canary))
    return canary


def promote(canary_id: UUID, *, actor: Actor, reason: str = "") -> Canary:
    """Make a canary the latest version, whose triggers take effect.

    Raises NotFound, WrongState, and PublishedFromGit where only Git publishes.
    """
    with transaction.atomic():
        canary = _get(canary_id)
        versioning.refuse_locked(_published(canary))
        if not rollout.promote(canary.workflow_id, canary.version_id):
            raise _over(canary)
        _end(canary, CanaryState.PROMOTED, actor, reason)
    return canary


@receiver(canary_ended)
def note_end(
    sender: Any, workflow_id: UUID, version_id: UUID, actor: Actor, reason: str, **_: Any
) -> None:
    """Record that another change to the workflow ended the canary."""
    found = Canary.objects.filter(version_id=version_id, state=CanaryState.RUNNING).first()
    if found is not None:
        _end(found, CanaryState.REPLACED, actor, reason)


def running(workflow_id: UUID) -> Canary:
    """Return the running canary of a workflow. Raises NotFound."""
    rows = Canary.objects.select_related("version", "latest").defer(*TEXTS)
    found = rows.filter(workflow_id=workflow_id, state=CanaryState.RUNNING).first()
    if found is None:
        raise NotFound(
            f"Workflow {workflow_id} has no running canary. Publish a version with a share first."
        )
    return found


def _end(canary: Canary, state: CanaryState, actor: Actor, reason: str) -> None:
    """Write the state of an ended canary.

    The caller removed the share in this transaction, so no other caller can end the canary.
    """
    before = canary.state
    canary.figures = figures.as_json(figures.compare(canary))
    canary.reason, canary.ended_by_name = reason, actor.name[:200]
    moved = Canary.objects.filter(pk=canary.pk, state__in=_sources(state)).update(
        state=state,
        reason=reason,
        figures=canary.figures,
        ended_by_name=canary.ended_by_name,
        ended_at=ClockTimestamp(),
    )
    assert moved == 1, "the workflow's row is locked"
    canary.state = state
    canary.refresh_from_db(fields=["ended_at"])
    verb = {"STOPPED": "stop", "PROMOTED": "promote", "REPLACED": "replace"}[state.value]
    was, now = {"state": str(before)}, {"state": state.value}
    _note(canary, f"canary.{verb}", actor, reason, before=was, after=now)


def _sources(target: CanaryState) -> list[CanaryState]:
    return [state for state in CanaryState if target in MOVES[state]]


def _get(canary_id: UUID) -> Canary:
    rows = Canary.objects.select_related("version", "latest").defer(*TEXTS)
    found = rows.filter(pk=canary_id).first()
    if found is None:
        raise NotFound(f"There is no canary {canary_id}.")
    return found


def _published(canary: Canary) -> Workflow:
    """Return the canary's workflow, with the fields that decide whether users may publish it."""
    rows = Workflow.objects.select_related("workspace")
    wanted = ("origin", "workspace__slug", "workspace__publish_from_git")
    return rows.only(*wanted).get(pk=canary.workflow_id)


def _over(canary: Canary) -> WrongState:
    canary.refresh_from_db(fields=["state", "reason"])
    why = f" ({canary.reason})" if canary.reason else ""
    return WrongState(
        f"The canary of version {canary.version.number} is {canary.state}{why}, so new "
        "executions do not use it. Publish a version with a share to begin another canary.",
        canary.state,
    )


def _later(now: Any, seconds: float | None) -> Any:
    return None if seconds is None else now + timedelta(seconds=seconds)


def _settings(canary: Canary) -> dict[str, Any]:
    at = canary.promote_at
    return {
        "percent": canary.percent,
        "stop": canary.stop,
        "promoteAt": None if at is None else at.isoformat(),
    }


def _note(canary: Canary, action: str, actor: Actor, reason: str, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=canary.workspace_id,
        object_type=Canary.AUDITED_AS,
        object_id=canary.pk,
        reason=reason,
        details={"workflowId": str(canary.workflow_id), "version": canary.version.number},
        **what,
    )


def _condition(canary: Canary) -> ReportedCondition:
    name = Workflow.objects.values_list("name", flat=True).get(pk=canary.workflow_id)
    return ReportedCondition(
        STOPPED,
        "canary",
        canary.pk,
        canary.workspace_id,
        f"The canary of {name}, version {canary.version.number}, stopped. {canary.reason}",
        addresses.page("valkyr_canary_canary", canary.pk),
        {
            "canaryId": str(canary.pk),
            "workflowId": str(canary.workflow_id),
            "version": canary.version.number,
        },
    )
