"""The Celery app. Django's settings configure it, and each app's tasks are in a module `tasks`."""

import os

from celery import Celery

from executions.vendor_seams import celery_consumer
from valkyr.celery import configure_celery
from valkyr_project import logs
from valkyr_project.metrics import serving  # noqa: F401 - connects on import

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")

# Otherwise, Celery would run Django's checks in each worker and beat without showing the findings,
# and load every page and endpoint for it, which takes 8 MB and 1 s. `manage.py check` shows the
# findings.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

celery_consumer.leave_delays_out()
# Flower reads events and calls workers; it needs the broker's settings but none of the apps, which
# would double its memory.
app = Celery(
    "valkyr_project",  # the name for `celery -A`, also in hints
    amqp="executions.vendor_seams.kombu_connection:Amqp",
    fixups=[] if os.environ.get("VALKYR_PROCESS") == "flower" else None,
)
app.config_from_object("django.conf:settings", namespace="CELERY")
configure_celery(app)
logs.connect_task_ids()


def read_again() -> None:
    """Apply the current Django settings, in a process that was forked after the app was created."""
    entries = app.conf.beat_schedule  # including Valkyr's entries, which no setting contains
    app.config_from_object("django.conf:settings", namespace="CELERY", force=True)
    app.conf.beat_schedule = entries
