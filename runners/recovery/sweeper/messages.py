"""Send due runs, and resend lost messages, but not merely because of a backlog.

If a run has not been claimed some time after it was sent, its message counts as lost in two cases:
its queue is empty, or a run that was sent more than 10 s later has already been claimed. That later
run must have been sent only once, to the same queue and with the same priority. Each resend doubles
the wait until the next check, up to ten minutes.
"""

import logging
from typing import Any

from kombu import Connection
from kombu.exceptions import ChannelError

from executions import messaging
from executions.definition.limits import limits
from runners import statements
from runners.conf import config
from runners.dispatch import messages
from runners.dispatch.messages import BATCH, resend

log = logging.getLogger(__name__)
LOST_BATCH = 2_000


def lost_messages() -> int:
    """Send lost segments again; return how many."""
    patience = config().patience
    found = statements.fetch("recheck_unclaimed_runs", {"batch": LOST_BATCH, "patience": patience})
    remote = limits().remote_queues
    # Once a worker has rendered a remote run's inputs, the run waits for a runner, not a message.
    picked = [
        (messages.PREPARED_BY if queue in remote else queue, run, execution, overtaken)
        for queue, run, overtaken, prepared, execution in found
        if not (queue in remote and prepared)
    ]
    if not picked:
        return 0
    empty = _empty({row[0] for row in picked})
    lost = {
        run: execution for queue, run, execution, overtaken in picked if queue in empty or overtaken
    }
    if not lost:
        return 0
    own = {"runs": list(lost), "executions": list(lost.values())}
    return resend(statements.fetch("mark_lost_runs_resent", own | {"patience": patience}))


def _empty(queues: set[str]) -> set[str]:
    """Return the queues that are empty; an empty set if the broker does not respond."""
    empty = set()
    try:
        with messaging.celery_app().connection_for_write() as link:
            link.ensure_connection(max_retries=max(1, len(link.alt) - 1), timeout=2)
            for queue in queues:
                if not _depth(link, messaging.at_broker(queue)):
                    empty.add(queue)
    except Exception as error:
        log.warning("the lengths of the broker's queues could not be read: %s", error)
        return set()
    return empty


def _depth(link: Connection, queue: str) -> int:
    """Return the number of messages in the queue; 0 if the queue does not exist."""
    channel: Any = link.default_channel
    try:
        return int(channel.queue_declare(queue, passive=True).message_count)
    except ChannelError:
        return 0


# Send due runs without a message: retries, and messages that the broker did not accept.


def due_runs() -> int:
    """Send due runs that have not been sent; return how many."""
    asked = {"batch": BATCH, "patience": config().patience}
    return resend(statements.fetch("mark_due_runs_sent", asked))
