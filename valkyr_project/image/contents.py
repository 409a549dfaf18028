"""The contents of the image: Django, the apps, and modules that processes import at their start."""

from importlib import import_module
from importlib.util import find_spec

import django
from django.apps import apps
from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from django.utils.module_loading import import_string

from executions.vendor_seams import django_settings
from valkyr_project.celery import app

MODULES = (
    "celery.app.amqp", "celery.app.control", "celery.app.events", "celery.app.log",
    "celery.backends.redis", "celery.bin.base", "celery.bin.beat", "celery.bin.worker",
    "celery.concurrency.prefork", "celery.concurrency.thread", "celery.contrib.django.task",
    "celery.fixups.django", "flower.command", "celery.worker.consumer", "celery.worker.worker",
    "django.contrib.staticfiles.management.commands.collectstatic",
    "django.core.management.commands.migrate",
    "executions.vendor_seams.celery_results", "executions.vendor_seams.kombu_connection",
    "executions.vendor_seams.kombu_redis", "kombu.transport.redis", "psycopg_pool",
    "tornado.platform.asyncio", "uvicorn.lifespan.off", "uvicorn.loops.asyncio",
    "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto",
    "valkyr_project.http.handler", "valkyr_project.http.server", "valkyr_project.http.websockets",
    "valkyr_project.messaging.beat", "valkyr_project.messaging.celery_command",
    "valkyr_project.messaging.flower_viewers",
    "valkyr_project.up.prepare", "valkyr_project.up.probes", "valkyr_project.urls",
)  # fmt: skip


def load() -> None:
    """Import everything. `DJANGO_SETTINGS_MODULE` and the stack's environment must be set."""
    django.setup(set_prefix=False)
    for one in apps.get_app_configs():
        if find_spec(f"{one.name}.tasks"):
            import_module(f"{one.name}.tasks")
    for name in MODULES:
        import_module(name)
    for name in settings.MIDDLEWARE:
        import_string(name)
    MigrationLoader(None)  # imports all migrations, for the readiness check
    # Bind the tasks here, so that each process need not bind them in its own memory pages.
    app.finalize()
    django_settings.code()
