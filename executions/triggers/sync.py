"""Make trigger rows match the published version; users can enable and disable triggers.

A trigger with the same settings keeps its row: its history, and a webhook's URL and secret. A
trigger that the definition drops is retired; if the trigger returns, its row is used again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.clock import database_now
from executions.errors import NotFound, WrongState
from executions.models import Trigger, Workflow, WorkflowVersion
from executions.payloads import dump
from executions.states import TriggerType
from executions.triggers import beat_entries
from executions.triggers.cron_schedule import AHEAD, following, rule

SWITCHED = ("enabled", "enabled_at", "paused_until", "retired_at", "returns_enabled")


def sync(workflow: Workflow, version: WorkflowVersion | None) -> None:
    """Make the workflow's triggers and beat's entries match `version`; None retires all triggers.

    A trigger that a user disabled stays disabled, even if it is retired and returns. Call it inside
    the transaction that publishes or archives, which holds the workflow's lock.
    """
    sync_all([(workflow, version)])


def sync_all(given: Sequence[tuple[Workflow, WorkflowVersion | None]]) -> None:
    """Synchronise many workflows as `sync` does, in few statements.

    Only changed schedules need separate statements.
    """
    now, workflows = database_now(), {workflow.pk: workflow for workflow, _ in given}
    wanted = {
        (workflow.pk, _key(kind, settings)): (workflow, kind, settings)
        for workflow, version in given
        for kind, settings in _entries(version)
    }
    changed = list[Trigger]()
    rows = Trigger.objects.select_for_update(no_key=True).filter(workflow__in=workflows)
    for trigger in rows.order_by("created_at", "id"):
        trigger.workflow = workflows[trigger.workflow_id]
        key = (trigger.workflow_id, _key(trigger.type, trigger.settings))
        if wanted.pop(key, None) is None:
            if trigger.retired_at is None:
                trigger.returns_enabled, trigger.enabled = trigger.enabled, False
                trigger.retired_at = now
                changed.append(trigger)
        elif trigger.retired_at is not None:
            trigger.enabled, trigger.enabled_at = trigger.returns_enabled, now
            trigger.retired_at = None
            changed.append(trigger)
    Trigger.objects.bulk_update(changed, SWITCHED, batch_size=100)
    made = [
        Trigger(workflow=workflow, type=kind, settings=settings, created_at=now, enabled_at=now)
        for workflow, kind, settings in wanted.values()
    ]
    Trigger.objects.bulk_create(made)
    for trigger in [*changed, *made]:
        _tell_beat(trigger)


def switch(trigger_id: UUID, *, enabled: bool, actor: Actor, reason: str = "") -> Trigger:
    """Enable or disable a trigger; a retired trigger is disabled until it returns.

    Does nothing if the trigger is in that state already. Raises NotFound, and WrongState for
    enabling a retired trigger.
    """
    with transaction.atomic():
        trigger = locked(trigger_id)
        if trigger.enabled == enabled:
            return trigger
        if trigger.retired_at is not None:
            raise WrongState(
                f"Trigger {trigger.pk} is no longer in the published version of "
                f"{trigger.workflow.name!r}. Add it to the definition's `triggers:` and publish.",
                "RETIRED",
            )
        if enabled:
            trigger.enabled_at = database_now()
        trigger.paused_until = None
        _write(trigger, enabled=enabled)
        action = "trigger.enable" if enabled else "trigger.disable"
        was, now = {"enabled": not enabled}, {"enabled": enabled}
        audit(actor, action, trigger, reason, before=was, after=now)
    return trigger


def pause(trigger_id: UUID, *, until: datetime, actor: Actor, reason: str = "") -> Trigger:
    """Pause an enabled schedule: times before `until` do not fire; then it continues automatically.

    A later call replaces the time. Times during the pause leave no tick and are not caught up on.
    Raises NotFound, and WrongState for another kind of trigger, a disabled schedule, or a time that
    is not within the next 400 days.
    """
    with transaction.atomic():
        trigger = _enabled_schedule(trigger_id)
        now = database_now()
        if not now < until <= now + AHEAD:
            raise WrongState(
                f"A schedule can be paused for up to {AHEAD.days} days, not until "
                f"{until.isoformat()}. Choose a later or an earlier time.",
                "BAD_PAUSE",
            )
        _pause(trigger, until, now, actor, "trigger.pause", reason)
    return trigger


def resume(trigger_id: UUID, *, actor: Actor, reason: str = "") -> Trigger:
    """End a schedule's pause now; times during the pause do not fire afterwards.

    Raises NotFound, and WrongState for another kind of trigger or a disabled schedule.
    """
    with transaction.atomic():
        trigger = _enabled_schedule(trigger_id)
        if trigger.paused_until is not None:
            _pause(trigger, None, database_now(), actor, "trigger.resume", reason)
    return trigger


def _enabled_schedule(trigger_id: UUID) -> Trigger:
    trigger = locked(trigger_id)
    if trigger.type != TriggerType.CRON:
        raise WrongState(
            f"Trigger {trigger.pk} is not a schedule, and only schedules can be paused. "
            "Disable it instead.",
            "NO_SCHEDULE",
        )
    if not trigger.enabled:
        raise WrongState(f"Schedule {trigger.pk} is disabled. Enable it first.", "DISABLED")
    return trigger


def _pause(
    trigger: Trigger,
    until: datetime | None,
    now: datetime,
    actor: Actor,
    action: str,
    reason: str,
) -> None:
    before = {"pausedUntil": _text(trigger.paused_until)}
    trigger.paused_until, trigger.enabled_at = until, now
    trigger.next_at = following(rule(beat_entries.settings_of(trigger)).schedule, now)
    trigger.save(update_fields=["paused_until", "enabled_at", "next_at"])
    audit(actor, action, trigger, reason, before=before, after={"pausedUntil": _text(until)})


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def lock_schedules(workspace_id: UUID) -> list[Trigger]:
    """Lock a workspace's enabled CRON triggers until the transaction ends, and return them."""
    rows = Trigger.objects.select_for_update(no_key=True, of=("self",)).filter(
        workflow__workspace_id=workspace_id, type=TriggerType.CRON, enabled=True
    )
    chosen = rows.select_related("workflow").defer("workflow__definition")
    return list(chosen.order_by("id"))


def hold_schedules(triggers: Iterable[Trigger], *, held: bool) -> None:
    """Stop locked schedules while their workspace is archived, or resume them from now on."""
    now = database_now()
    for trigger in triggers:
        if held:
            beat_entries.remove(trigger)
            trigger.next_at = None
        else:
            trigger.enabled_at = now
            beat_entries.write(trigger)
        trigger.save(update_fields=["enabled_at", "next_at"])


def locked(trigger_id: UUID) -> Trigger:
    """Return the trigger with its workflow, locked until the transaction ends. Raises NotFound."""
    trigger = (
        Trigger.objects.select_for_update(no_key=True, of=("self",))
        .select_related("workflow")
        .defer("workflow__definition")
        .filter(pk=trigger_id)
        .first()
    )
    if trigger is None:
        raise NotFound(f"There is no trigger {trigger_id}.")
    return trigger


def audit(
    actor: Actor,
    action: str,
    trigger: Trigger,
    reason: str = "",
    about: Mapping[str, Any] | None = None,
    **changes: dict[str, Any],
) -> None:
    """Record a change to a trigger in the audit trail.

    `changes` are the values `before` and `after` the change; `about` has further details.
    """
    record(
        actor,
        action,
        workspace_id=trigger.workflow.workspace_id,
        object_type="Trigger",
        object_id=trigger.pk,
        reason=reason,
        details={"workflowId": str(trigger.workflow_id), "type": trigger.type, **(about or {})},
        **changes,
    )


def _entries(version: WorkflowVersion | None) -> Iterable[tuple[str, dict[str, Any]]]:
    for entry in version.definition.get("triggers", []) if version is not None else []:
        settings = {key: value for key, value in entry.items() if key not in ("type", "ui")}
        yield entry["type"], settings


def _key(kind: str, settings: dict[str, Any]) -> str:
    return f"{kind} {dump(settings)}"


def _write(trigger: Trigger, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(trigger, name, value)
    trigger.save(update_fields=SWITCHED)
    _tell_beat(trigger)


def _tell_beat(trigger: Trigger) -> None:
    if trigger.type != TriggerType.CRON:
        return
    if trigger.retired_at is not None or trigger.workflow.workspace.archived_at is not None:
        beat_entries.remove(trigger)
    elif trigger.enabled:
        beat_entries.write(trigger)
    else:
        beat_entries.disable(trigger)
