"""Connect Valkyr to a Celery app. Call `configure_celery` once, after creating the app.

    app = Celery("shop")
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.autodiscover_tasks()
    valkyr.configure_celery(app)

The app gets Valkyr's tasks, queues and beat entries. Task options are defined with the tasks
(`executions.messaging.OPTIONS`); the app's other settings and tasks are not changed.
"""

from functools import partial
from typing import Any

from celery import Celery
from celery.signals import celeryd_init
from django.apps import apps

from executions import messaging
from executions.configuration import OWN_QUEUES
from valkyr import beat


def configure_celery(app: Celery) -> Celery:
    """Let this app send and execute Valkyr's tasks, and return the app.

    The function reads no settings yet, because Django's settings may still be importing the module
    that calls the function.
    """
    messaging.carry_by(app)
    app.autodiscover_tasks(_packages)
    celeryd_init.connect(_begin_worker, weak=False, dispatch_uid="valkyr.celery")
    messaging.when_ready(_register_checks)
    app.on_after_finalize.connect(_finish, weak=False, dispatch_uid="valkyr.celery")
    return app


def _register_checks() -> None:
    from valkyr import checks  # it imports models

    checks.connect()


def _packages() -> list[str]:
    """Return the names of the installed apps that define Valkyr's tasks."""
    from executions.plugins import plugins

    if not apps.apps_ready:  # a process without Django, such as Flower
        return []
    engine = [name for name in ("executions", "runners", "dlq") if apps.is_installed(name)]
    return engine + [plugin.name for plugin in plugins()]


def _begin_worker(instance: Any = None, **_: Any) -> None:
    """Make a worker of the app also consume Valkyr's queues, unless -Q names its queues."""
    app = messaging.configured_app()
    if instance is None or instance.app is not app or app is None:
        return
    from runners.workers import registration

    registration.connect()
    queues = app.amqp.queues
    for name in sorted(OWN_QUEUES):
        queue = messaging.at_broker(name)
        queues.select_add(queues.get(queue) or queues.new_missing(queue))


def _finish(sender: Any = None, **_: Any) -> None:
    """Add Valkyr's periodic tasks once Django's apps are loaded."""
    app: Celery = sender
    if apps.apps_ready:
        app.conf.beat_schedule = beat.entries() | dict(app.conf.beat_schedule or {})
    else:
        messaging.when_ready(partial(_finish, sender=app))
