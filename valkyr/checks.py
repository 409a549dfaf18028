"""System checks of a project's Celery setup; each message says what to do.

`manage.py check` checks the settings. With `--database default`, it also checks the running parts:
the broker, a worker for each queue, and beat. A missing process is a warning.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from celery import Celery
from django.apps import apps
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register

from executions import messaging
from executions.checks import with_settings
from executions.configuration import OWN_QUEUES
from executions.configuration import settings as valkyr_settings
from valkyr import beat

DATABASE_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
GREEN = frozenset({"gevent", "eventlet"})


def connect() -> None:
    """Register the system checks."""
    register(with_settings(settings), "valkyr")
    register(with_settings(running), "valkyr", Tags.database)


def settings(**_: Any) -> list[CheckMessage]:
    """Return the problems in the settings of the Celery app."""
    valkyr_settings()  # first, because an app finalized with invalid settings lacks our entries
    app = messaging.celery_app()
    app.finalize()
    return [*_tasks(app), *_beat(app)]


def _tasks(app: Celery) -> Iterator[CheckMessage]:
    if app.conf.task_always_eager:
        yield Error(
            "task_always_eager is on: steps would run in the process that starts a workflow.",
            hint="Turn it off in processes that run workflows.",
            id="valkyr.E011",
        )
    if not {"json", "application/json"} & set(app.conf.accept_content):
        yield Error(
            f"accept_content is {list(app.conf.accept_content)}; Valkyr's messages are JSON.",
            hint="Add 'json' to accept_content.",
            id="valkyr.E012",
        )
    if app.conf.worker_pool in GREEN:
        yield Error(
            f"worker_pool is {app.conf.worker_pool!r}; steps need prefork or threads.",
            hint="Start a separate worker for Valkyr's queues, with --pool prefork or threads.",
            id="valkyr.E013",
        )


def _beat(app: Celery) -> Iterator[CheckMessage]:
    missing = sorted(beat.entries().keys() - dict(app.conf.beat_schedule).keys())
    if missing:
        yield Error(
            f"beat_schedule lacks {len(missing)} of Valkyr's entries, including {missing[0]!r}.",
            hint=(
                "The project replaced it after the app was in use. Set it in the settings, or add "
                "entries with app.conf.beat_schedule.update(…)."
            ),
            id="valkyr.E014",
        )
    if not _keeps_rows(app):
        yield checks.Warning(
            f"beat_scheduler is {app.conf.beat_scheduler!r}: beat does not send the schedules of "
            "workflows. They start up to five seconds late.",
            hint=f"Set beat_scheduler to {DATABASE_SCHEDULER!r}, or start beat with --scheduler.",
            id="valkyr.W015",
        )


def _ours(app: Celery) -> bool:
    return str(app.conf.beat_scheduler).startswith("valkyr_project.")


def running(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Check the broker, the workers and beat, if the caller requests database checks.

    `manage.py migrate` also runs these checks, usually before a worker starts. They report only
    warnings, because an error would stop the command.
    """
    return list(what_is_missing()) if databases and _is_migrated() else []


def _is_migrated() -> bool:
    from executions.database import connection
    from runners.models import Runner

    return Runner._meta.db_table in connection.introspection.table_names()


def what_is_missing() -> Iterator[CheckMessage]:
    """Yield a warning for each missing part: the broker, the worker of a queue, or beat.

    Also yields one for each disabled entry of beat. Reads the database.
    """
    from executions.health import parts
    from runners.workers.queues import served

    app = messaging.celery_app()
    try:
        parts.broker()
    except Exception as error:
        yield checks.Warning(
            f"The broker at {app.connection_for_write().as_uri()} cannot be reached: {error}.",
            hint="Start it, or correct broker_url.",
            id="valkyr.W030",
        )
    name = app.main or "your_project"
    for queue in sorted(OWN_QUEUES - served()):
        at_broker = messaging.at_broker(queue)
        yield checks.Warning(
            f"No worker consumes the queue {at_broker!r}: steps sent there wait.",
            hint=f"Start one: celery -A {name} worker, for all queues, or with -Q {at_broker}.",
            id="valkyr.W031",
        )
    yield from _silent_beat(name)
    yield from _disabled_entries(app)


def _disabled_entries(app: Celery) -> Iterator[CheckMessage]:
    """Yield a warning for each of Valkyr's beat entries that is disabled in the admin."""
    if not apps.is_installed("django_celery_beat") or not _keeps_rows(app):
        return
    from django_celery_beat.models import PeriodicTask

    off = PeriodicTask.objects.filter(name__in=beat.entries(), enabled=False)
    for name in sorted(off.values_list("name", flat=True)):
        yield checks.Warning(
            f"Beat's entry {name!r} is disabled: {beat.entries()[name]['task']} is never sent.",
            hint="Enable it under Periodic tasks in the admin.",
            id="valkyr.W033",
        )


def _keeps_rows(app: Celery) -> bool:
    return str(app.conf.beat_scheduler).endswith("DatabaseScheduler") or _ours(app)


def _silent_beat(name: str) -> Iterator[CheckMessage]:
    from dlq import health, pulse
    from executions.database.clock import database_now

    last = pulse.last_beat()
    if last is None or (database_now() - last).total_seconds() > health.SILENT_SECONDS:
        since = "yet" if last is None else f"since {last:%Y-%m-%d %H:%M:%S} UTC"
        yield checks.Warning(
            f"Beat has not run {since}: no step is retried, scheduled or taken over.",
            hint=f"Start one: celery -A {name} beat. It needs a worker of the queue "
            f"{messaging.at_broker(messaging.CONTROL)!r}, too.",
            id="valkyr.W032",
        )
