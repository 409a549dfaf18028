"""Which trigger a consumer serves and which queue of which broker it reads.

The engine's own queues are refused: reading them would take its messages away.
"""

import os
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from executions.definition.catalog import catalog
from executions.errors import NotFound, ValkyrError
from executions.models import Trigger
from executions.states import TriggerType
from executions.triggers.queues.broker_source import BrokerSource
from executions.triggers.queues.intake import queue_trigger
from executions.triggers.queues.redis_source import RedisSource
from executions.triggers.queues.source import MessageSource

REDIS = ("redis://", "rediss://", "unix://")


class Unclear(ValkyrError):
    """It cannot be said which trigger or broker is meant."""

    code = "unclear"


def find(name: str) -> Trigger:
    """The QUEUE trigger of that id, or of a published workflow's `slug` or `slug:queue`.

    Raises NotFound, and Unclear where several fit.
    """
    try:
        return queue_trigger(UUID(name))
    except ValueError:
        pass
    slug, _, queue = name.partition(":")
    rows = Trigger.objects.filter(
        type=TriggerType.QUEUE, workflow__slug=slug, workflow__archived_at=None, retired_at=None
    )
    if queue:
        rows = rows.filter(settings__queue=queue)
    found = list(rows.select_related("workflow__workspace").order_by("id")[:10])
    if not found:
        wanted = f"a QUEUE trigger of {queue!r}" if queue else "a QUEUE trigger"
        raise NotFound(
            f"No published workflow {slug!r} has {wanted}. Name a trigger by its id, or a workflow "
            "by its slug."
        )
    if len(found) > 1:
        listed = "; ".join(
            f"{t.pk} ({t.workflow.workspace.slug}/{t.workflow.slug}, {t.settings['queue']})"
            for t in found
        )
        raise Unclear(f"Several QUEUE triggers fit {name!r}; give the id of one: {listed}.")
    return found[0]


def broker_url(trigger: Trigger, given: str | None = None) -> str:
    """The broker's address: `given`, else the trigger's, else the engine's own.

    `env:NAME` stands for an environment variable. Raises Unclear for one that is not set.
    """
    text = given or trigger.settings["broker"] or settings.CELERY_BROKER_URL
    if not text.startswith("env:"):
        return str(text)
    name = text.removeprefix("env:")
    if not os.environ.get(name):
        raise Unclear(f"The trigger's broker is in the environment variable {name}; it is not set.")
    return os.environ[name]


def open_source(trigger: Trigger, url: str, *, raw: bool) -> MessageSource:
    """The trigger's queue at that broker; connects on first use. Raises Unclear."""
    queue = trigger.settings["queue"]
    is_redis = url.startswith(REDIS)
    if raw and not is_redis:
        raise Unclear("--raw is for lists in Redis; other brokers carry JSON as it is.")
    if queue in _own_queues() or queue.startswith(settings.VALKYR_KEY_PREFIX):
        raise Unclear(f"{queue!r} is a queue of the engine itself. Use another name.")
    if is_redis:
        return RedisSource(url, queue, trigger.pk, raw=raw)
    return BrokerSource(url, queue)


def shown(url: str) -> str:
    """The address without its user and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _own_queues() -> set[str]:
    routes = {str(route["queue"]) for route in settings.CELERY_TASK_ROUTES.values()}
    return routes | {settings.CELERY_TASK_DEFAULT_QUEUE} | {m.queue for m in catalog().values()}
