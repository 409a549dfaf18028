"""Copy to the target the accounts, keys, tier and schedules that a workspace's rows need."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import Permission
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from executions import messaging
from executions.database import accounts, transaction
from executions.database.ids import uuid7
from executions.database.routing import serving
from executions.models import Tier, Trigger, WorkflowGroupPermission, WorkflowUserPermission
from executions.sealing import store
from executions.triggers import beat_entries
from runners.moving.sessions import MoveSessions
from runners.moving.tables import tables

CRONTAB = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week", "timezone")
ENTRY = ("task", "args", "kwargs", "enabled", "description", "last_run_at", "start_time")


def copy_accounts(sessions: MoveSessions, workspace: UUID, *, paused: bool = False) -> int:
    """Ensure that the target has the accounts and groups to which the workspace's rows refer.

    Return how many there are. With `paused`, ignore the rows of executions that are not live.
    """
    needed: set[tuple[Any, Any]] = set()
    for table in tables():
        for column in table.outside:
            if column.related_model is Permission:
                continue
            condition = table.paused if paused else table.condition
            rows = sessions.source.execute(
                f"SELECT DISTINCT t.{column.column} FROM {table.name} t"
                f" WHERE {condition} AND t.{column.column} IS NOT NULL",
                {"workspace": workspace},
            )
            needed |= {(column.related_model, pk) for (pk,) in rows.fetchall()}
    with serving(sessions.target_alias):
        for model, pk in needed:
            accounts.ensure(pk, model)
    return len(needed)


def copy_keys(sessions: MoveSessions) -> None:
    """Add the source's data keys to the target's; the target still seals with its own key.

    Raises the errors of `store.present` and `store.adopt`.
    """
    with serving(sessions.source_alias):
        theirs = store.present()
    if theirs is not None:
        with serving(sessions.target_alias), transaction.atomic():
            store.adopt(theirs)


def tier_in(sessions: MoveSessions, tier_id: UUID) -> UUID:
    """Return the ID of the target's tier with the same name; copy the tier if there is none.

    The copy gets a new ID, because the target may use the ID for a tier that was renamed.
    """
    tier = Tier.objects.using(sessions.source_alias).get(pk=tier_id)
    there = Tier.objects.using(sessions.target_alias)
    found = there.filter(name=tier.name).first()
    if found is None:
        tier.pk = uuid7()
        tier.save(using=sessions.target_alias, force_insert=True)
        found = tier
    return found.pk


def renumber_permissions(sessions: MoveSessions, workspace: UUID) -> None:
    """Make the copied grants refer to the target's own rows of the same permissions."""
    numbers = {}
    for of in (sessions.source_alias, sessions.target_alias):
        rows = Permission.objects.using(of).order_by()
        numbers[of] = {
            (app, model, name): pk
            for app, model, name, pk in rows.values_list(
                "content_type__app_label", "content_type__model", "codename", "pk"
            )
        }
    there = numbers[sessions.target_alias]
    pairs = [(pk, there[one]) for one, pk in numbers[sessions.source_alias].items() if one in there]
    for model in (WorkflowUserPermission, WorkflowGroupPermission):
        table = next(one for one in tables() if one.model is model)
        sessions.target.execute(
            f"UPDATE {table.name} t SET permission_id = n.there"
            " FROM unnest(%(here)s::int[], %(there)s::int[]) AS n (here, there)"
            f" WHERE t.permission_id = n.here AND {table.condition}",
            {
                "here": [one for one, _ in pairs],
                "there": [one for _, one in pairs],
                "workspace": workspace,
            },
        )


def copy_schedules(sessions: MoveSessions, workspace: UUID) -> None:
    """Copy beat's entries for the workspace's triggers; skip entries that already exist.

    The copy of an entry that no longer has a crontab gets the published schedule.
    """
    with serving(sessions.source_alias):
        triggers = {
            trigger.pk: trigger
            for trigger in Trigger.objects.filter(workflow__workspace_id=workspace, type="CRON")
        }
        entries = beat_entries.entries_of(triggers.values())
    with serving(sessions.target_alias):
        for pk, entry in entries.items():
            if PeriodicTask.objects.filter(name=entry.name).exists():
                continue
            if entry.crontab is None:
                values = beat_entries.published_fields(triggers[pk])
            else:
                values = {name: getattr(entry.crontab, name) for name in CRONTAB}
            crontab = CrontabSchedule.objects.filter(**values).first()
            made = PeriodicTask(name=entry.name, queue=messaging.at_broker(messaging.CONTROL))
            made.crontab = crontab or CrontabSchedule.objects.create(**values)
            for name in ENTRY:
                setattr(made, name, getattr(entry, name))
            made.save()


def remove_schedules(sessions: MoveSessions, workspace: UUID) -> None:
    """Remove beat's entries for the workspace's triggers from the source database."""
    with serving(sessions.source_alias):
        triggers = list(Trigger.objects.filter(workflow__workspace_id=workspace))
        for entry in beat_entries.entries_of(triggers).values():
            entry.delete()
