"""Make trigger rows match the published version; users enable and disable them in between.

A trigger with the same settings keeps its row: its history, and a webhook's URL and secret. A
trigger that the definition drops is retired; if it returns, so does its row.
"""

from collections.abc import Iterable, Mapping, Sequence
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


def sync(workflow: Workflow, version: WorkflowVersion | None) -> None:
    """Make the workflow's triggers and beat's entries those of `version` (None: none).

    A trigger that a user disabled stays disabled. Call it inside the transaction that publishes or
    archives, which holds the workflow's lock.
    """
    sync_all([(workflow, version)])


def sync_all(given: Sequence[tuple[Workflow, WorkflowVersion | None]]) -> None:
    """Synchronise many workflows; the number of statements depends on the changes alone."""
    now, workflows = database_now(), {workflow.pk: workflow for workflow, _ in given}
    wanted = {
        (workflow.pk, _key(kind, settings)): (workflow, kind, settings)
        for workflow, version in given
        for kind, settings in _entries(version)
    }
    rows = Trigger.objects.select_for_update(no_key=True).filter(workflow__in=workflows)
    for trigger in rows.order_by("created_at", "id"):
        trigger.workflow = workflows[trigger.workflow_id]
        key = (trigger.workflow_id, _key(trigger.type, trigger.settings))
        if wanted.pop(key, None) is None:
            if trigger.retired_at is None:
                _write(trigger, enabled=False, retired_at=now)
        elif trigger.retired_at is not None:
            _write(trigger, enabled=True, retired_at=None, enabled_at=now)
    made = [
        Trigger(workflow=workflow, type=kind, settings=settings, created_at=now, enabled_at=now)
        for workflow, kind, settings in wanted.values()
    ]
    Trigger.objects.bulk_create(made)
    for trigger in made:
        _tell_beat(trigger)


def switch(trigger_id: UUID, *, enabled: bool, actor: Actor, reason: str = "") -> Trigger:
    """Enable or disable a trigger until a user changes it; publishing does not change it.

    Does nothing if it is so already. Raises NotFound, and WrongState for enabling a retired one.
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
        _write(trigger, enabled=enabled)
        action = "trigger.enable" if enabled else "trigger.disable"
        was, now = {"enabled": not enabled}, {"enabled": enabled}
        audit(actor, action, trigger, reason, before=was, after=now)
    return trigger


def lock_schedules(workspace_id: UUID) -> list[Trigger]:
    """Lock a workspace's enabled CRON triggers until the transaction ends."""
    rows = Trigger.objects.select_for_update(no_key=True, of=("self",)).filter(
        workflow__workspace_id=workspace_id, type=TriggerType.CRON, enabled=True
    )
    chosen = rows.select_related("workflow").defer("workflow__definition")
    return list(chosen.order_by("id"))


def hold_schedules(triggers: Iterable[Trigger], *, held: bool) -> None:
    """Stop locked schedules while their workspace is archived, or resume them from now."""
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
    """Return the trigger with its workflow, locked until the transaction ends; raises NotFound."""
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
    """Write a user's change of a trigger into the audit trail; `changes`: before and after."""
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
    trigger.save(update_fields=["enabled", "enabled_at", "retired_at"])
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
