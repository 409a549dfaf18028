"""A thread in each control worker that detects a stopped beat and sends the alert directly.

It depends on neither beat nor the broker: it reads the pulse, raises the alert and sends it. If
there are several control workers, one sends at a time.
"""

import logging
import threading
from datetime import datetime, timedelta
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from executions.public.addresses import page
from executions.public.database import connection, database_now, transaction
from executions.public.messaging import CONTROL, at_broker, celery_app
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.lifecycle import Finding
from valkyr_plugins.alerts.models import AlertKind, AlertRule

log = logging.getLogger(__name__)
_over = threading.Event()


def connect() -> None:
    """Connect the signals of a worker's start and shutdown."""
    worker_ready.connect(begin, weak=False, dispatch_uid=f"{__name__}.begin")
    worker_shutting_down.connect(end, weak=False, dispatch_uid=f"{__name__}.end")


def begin(sender: Any = None, **_: Any) -> None:
    """Start the thread if the worker serves the queue of beat's duties."""
    app = celery_app()
    if sender.app is app and at_broker(CONTROL) in app.amqp.queues.consume_from:
        _over.clear()
        threading.Thread(target=_keep_looking, name="watchman", daemon=True).start()


def end(**_: Any) -> None:
    """End the thread when the worker shuts down."""
    _over.set()


def look(since: datetime) -> int:
    """Raise and send alerts if beat was silent for too long; return the number of reported alerts.

    The silence is measured from beat's last pulse, or from `since` if that is later.
    """
    from dlq.public.beat import pulse
    from executions.public.database import AdvisoryLock, alone
    from valkyr_plugins.alerts.lifecycle import notice, tell
    from valkyr_plugins.alerts.sending import send_due

    told = 0
    rules = AlertRule.objects.select_related("workspace").filter(
        enabled=True, kinds__contains=[AlertKind.BEAT_SILENT]
    )
    now = database_now()
    last = max(pulse.last_beat() or since, since)
    silent = [(rule, found) for rule in rules if (found := silence(rule, last, now))]
    if not silent:
        return 0
    with alone(AdvisoryLock.ALERT_WATCHING) as mine:
        for rule, found in silent if mine else ():
            with transaction.atomic():
                notice(rule, found)
                told += tell(rule)
    # Send on later passes too, because beat, which normally starts retries, is not running.
    send_due()
    return told


def _keep_looking() -> None:
    since: datetime | None = None
    while not _over.wait(config().look):
        try:
            since = since or database_now()
            look(since)
        # The database may be unavailable for a while. Nothing can be reported during that time.
        except Exception as error:
            log.warning("could not check whether beat runs (%s); trying again", error)
        finally:
            connection.close()


# Find out how long beat has been silent.


def silence(rule: AlertRule, since: datetime, now: datetime) -> Finding | None:
    """Return a finding if beat has been silent for longer than the rule allows, otherwise None."""
    silent = now - since
    if silent <= timedelta(seconds=rule.silent_seconds):
        return None
    sentence = (
        f"No duty of beat has run for {silent.total_seconds():,.0f} s (since "
        f"{since:%Y-%m-%d %H:%M:%S} UTC): schedules, timers and retries have stopped. Check "
        "that the beat process runs and reaches the broker."
    )
    return Finding(
        AlertKind.BEAT_SILENT,
        "beat",
        sentence,
        page("runners_runner"),
        {"since": since.isoformat()},
        rule.workspace_id,
    )
