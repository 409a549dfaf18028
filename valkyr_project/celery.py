"""The Celery app; settings come from Django's, names from each app's `tasks`."""

import os
from typing import Any

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_process_init
from django.db import connections
from psycopg.pq import TransactionStatus

from executions.vendor_seams import celery_consumer, django_connections
from valkyr.celery import configure_celery
from valkyr_project import logs
from valkyr_project.metrics import serving  # noqa: F401 - connects on import

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")

# Celery would run Django's checks in each worker and beat, tell nobody what they found, and load
# every page and endpoint for it: 8 MB and a second. `manage.py check` tells.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

celery_consumer.leave_delays_out()
# Flower reads events and asks workers; it needs the broker's settings and none of the apps, which
# would double its memory.
app = Celery(
    "valkyr_project",  # what `celery -A` names, in advice too
    amqp="executions.vendor_seams.kombu_connection:Amqp",
    fixups=[] if os.environ.get("VALKYR_PROCESS") == "flower" else None,
)
app.config_from_object("django.conf:settings", namespace="CELERY")
configure_celery(app)
logs.connect_task_ids()


@task_prerun.connect(weak=False)
@task_postrun.connect(weak=False)
def tidy_connections(**_: Any) -> None:
    """Leave no broken or half-used connection to the next task.

    Connections are kept between tasks (a new one costs 3 ms); without this, one PostgreSQL
    restart or one interrupted query would fail every later task of the process.
    """
    for connection in connections.all(initialized_only=True):
        raw = connection.connection
        if raw is None:
            continue
        idle = not raw.closed and raw.pgconn.transaction_status == TransactionStatus.IDLE
        if raw.closed or raw.broken or connection.in_atomic_block or not idle:
            django_connections.discard(connection)
        elif "pool" in connection.settings_dict["OPTIONS"]:
            connection.close()  # back to the pool: a thread between tasks holds none
        else:
            connection.close_if_unusable_or_obsolete()


@worker_process_init.connect(weak=False)
def limit_child_memory(**_: Any) -> None:
    """Bind a process of a prefork pool to its share of memory."""
    from runners.conf import config
    from runners.process.memory_limit import WORKER, limit_memory

    limit_memory(config().worker_memory, WORKER)


@worker_process_init.connect(weak=False)
def forget_parent_connections(**_: Any) -> None:
    """A forked child opens its own connections."""
    for connection in connections.all(initialized_only=True):
        django_connections.forget(connection)
