"""The queues that consumers read, through kombu or as Redis lists, and their triggers.

The engine's own queues are rejected, because a consumer would take the engine's messages.
"""

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import redis
from kombu import Connection
from redis.backoff import NoBackoff
from redis.retry import Retry

from executions import messaging
from executions.configuration import OWN_QUEUES
from executions.configuration import settings as valkyr_settings
from executions.database.ids import uuid7
from executions.definition.catalog import catalog
from executions.errors import NotFound, ValkyrError
from executions.models import Trigger
from executions.redis_client import open_client
from executions.states import TriggerType
from executions.triggers.queues.intake import queue_trigger
from executions.triggers.queues.message import (
    Lost,
    MessageSource,
    QueueMessage,
    Unreadable,
    UnusableSource,
    id_of,
    open_envelope,
)

# A queue in Redis lists. No message is lost, and none starts an execution twice, although messages
# may have no ID.
#
# A message moves atomically from the list into a hash of messages in flight, under a token that was
# generated before. If the consumer dies, the message stays in the hash, and the next consumer finds
# it with the same token. Two consumers may hold a message for a while: the token makes that
# harmless, and only the consumer that took it last may return it.


# kombu keeps messages with higher priority numbers in separate lists, which are read after the
# first.
PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
# Seconds in flight after which a message's consumer may be dead.
STALE_SECONDS = 30.0

# Parts of a message in flight: its holder (32 characters), the time since when (10), the list from
# which it came (1), and the message.
_OWNER, _SINCE, _LIST = slice(0, 32), slice(32, 42), slice(42, 43)
_BODY = slice(43, None)

TAKE = """
for i = 2, #KEYS do
  local body = redis.call(ARGV[1], KEYS[i])
  if body then
    redis.call('HSET', KEYS[1], ARGV[2], ARGV[3] .. (i - 2) .. body)
    return body
  end
end
return false
"""
TAKE_OVER = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""
GIVE_BACK = """
local held = redis.call('HGET', KEYS[1], ARGV[2])
if not held or string.sub(held, 1, 32) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call(ARGV[1], KEYS[2 + tonumber(string.sub(held, 43, 43))], string.sub(held, 44))
return 1
"""


class RedisSource:
    """A queue in Redis.

    With `raw`, it is a list of plain JSON pushed with RPUSH; otherwise, kombu's lists by priority.
    """

    def __init__(self, url: str, queue: str, trigger_id: UUID, *, raw: bool = False) -> None:
        # No retries in the client, because a second attempt would take a second message under the
        # same token.
        self._redis = open_client(
            url,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
        )
        self._owner = uuid4().hex
        self._raw = raw
        self._keys = [in_flight_key(queue, trigger_id)]
        self._keys += [queue] if raw else [queue + suffix for suffix in PRIORITIES]
        self._held: UUID | None = None
        self._left: deque[tuple[bytes, bytes]] = deque()
        self._looked = float("-inf")

    def get(self) -> QueueMessage | None:
        """Return the next message; None if there is none.

        Messages that earlier consumers left in flight come first.
        """
        with _loss():
            self._look_for_left()
            while self._left:
                token, value = self._left.popleft()
                if self._take_over(token, value):
                    return self._hold(UUID(token.decode()), value[_BODY])
            token_text = str(uuid7())
            side = "LPOP" if self._raw else "RPOP"
            body = self._eval(TAKE, side, token_text, self._mark())
        return self._hold(UUID(token_text), body) if body is not None else None

    def acknowledge(self) -> None:
        """Remove the held message from the messages in flight."""
        with _loss():
            self._redis.hdel(self._keys[0], str(self._held))

    def give_back(self) -> None:
        """Return the message to the list; do nothing if another consumer has taken it over."""
        side = "LPUSH" if self._raw else "RPUSH"
        with _loss():
            self._eval(GIVE_BACK, side, str(self._held), self._owner)

    def close(self) -> None:
        """Close the connection to Redis; a message that is still held remains in flight."""
        self._redis.close()

    def _hold(self, token: UUID, raw: bytes) -> QueueMessage:
        self._held = token
        if self._raw:
            return QueueMessage(raw, {}, None, token, lasting=True)
        try:
            opened = open_envelope(raw)
        except Unreadable as error:
            return QueueMessage(raw, {}, None, token, lasting=True, problem=error)
        return QueueMessage(opened.body, opened.headers, opened.id, token, lasting=True)

    def _look_for_left(self) -> None:
        """Find messages in flight: all messages the first time, and only old messages later."""
        now = time.time()
        if now - self._looked < STALE_SECONDS:
            return
        first = self._looked == float("-inf")
        for token, value in self._redis.hscan_iter(self._keys[0]):
            since = float(value[_SINCE])
            if first or now - since > STALE_SECONDS:
                self._left.append((token, value))
        self._looked = now

    def _take_over(self, token: bytes, value: bytes) -> bool:
        mine = self._mark().encode() + value[_LIST] + value[_BODY]
        return bool(self._eval(TAKE_OVER, token, value, mine))

    def _mark(self) -> str:
        return f"{self._owner}{int(time.time()):010d}"

    def _eval(self, script: str, *arguments: Any) -> Any:
        return self._redis.eval(script, len(self._keys), *self._keys, *arguments)


def in_flight_key(queue: str, trigger_id: UUID) -> str:
    """Return the Redis key of a trigger's hash of messages that are not yet acknowledged."""
    return f"{queue}:valkyr-in-flight:{trigger_id}"


@contextmanager
def _loss() -> Iterator[None]:
    try:
        yield
    except (redis.AuthenticationError, redis.ResponseError) as error:
        raise UnusableSource(str(error)) from error
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise Lost(str(error)) from error


# A queue of any other broker that kombu supports, such as RabbitMQ. The queue must exist.
#
# Messages are fetched one at a time, so nothing is prefetched. The broker redelivers unacknowledged
# messages when the connection ends; the sender's message ID prevents a second start.


TIMEOUT_SECONDS = 5.0


class BrokerSource:
    """A queue of any broker that kombu supports, read with `basic_get`."""

    def __init__(self, url: str, queue: str) -> None:
        self._url = url
        self._queue = queue
        self._connection: Connection | None = None
        self._channel: Any = None
        self._held: Any = None

    def get(self) -> QueueMessage | None:
        """Return the next message; None if the queue is empty."""
        with self._loss():
            channel = self._open()
            found = channel.basic_get(queue=self._queue, no_ack=False)
            if found is None:
                return None
            self._held = held = channel.message_to_python(found)
        body = held.body if isinstance(held.body, bytes) else str(held.body).encode()
        problem = None
        if held.errors:
            problem = Unreadable("unreadable", f"The message cannot be opened: {held.errors[0]}.")
        headers = dict(held.headers or {})
        name = id_of(held.properties or {}, headers)
        return QueueMessage(body, headers, name, uuid7(), lasting=False, problem=problem)

    def acknowledge(self) -> None:
        """Acknowledge the message; messages of a lost connection are redelivered."""
        with self._loss():
            if self._held is not None:
                self._held.ack()

    def give_back(self) -> None:
        """Return the held message to the queue, if this source holds a message."""
        with self._loss():
            if self._held is not None:
                self._held.requeue()

    def close(self) -> None:
        """Close the connection and ignore its errors; the broker redelivers a held message."""
        connection, self._connection = self._connection, None
        self._channel = self._held = None
        if connection is not None:
            with suppress(*connection.connection_errors, *connection.channel_errors, OSError):
                connection.release()

    def _open(self) -> Any:
        if self._channel is None:
            self._connection = Connection(self._url, connect_timeout=TIMEOUT_SECONDS)
            self._channel = self._connection.channel()
        return self._channel

    @contextmanager
    def _loss(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            connection = self._connection
            if connection is None:
                raise
            expected = (*connection.connection_errors, *connection.channel_errors, OSError)
            if not isinstance(error, expected):
                raise
            self.close()
            raise Lost(str(error)) from error


REDIS = ("redis://", "rediss://", "unix://", messaging.SENTINEL)


class Unclear(ValkyrError):
    """The named trigger or broker is ambiguous or unknown."""

    code = "unclear"


def find(name: str) -> Trigger:
    """Return the QUEUE trigger that an ID, a workflow's `slug`, or `slug:queue` names.

    Raises NotFound, and Unclear if several match.
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
        raise Unclear(f"Several QUEUE triggers match {name!r}; give the id of one: {listed}.")
    return found[0]


def broker_url(trigger: Trigger, given: str | None = None) -> str:
    """Return the broker's URL: `given`, or else the trigger's or the engine's broker.

    `env:NAME` names an environment variable that contains the URL. Raises Unclear if it is not set.
    """
    text = given or trigger.settings["broker"] or messaging.broker_url()
    if not text.startswith("env:"):
        return str(text)
    name = text.removeprefix("env:")
    if not os.environ.get(name):
        raise Unclear(
            f"The environment variable {name}, which names the trigger's broker, is not set. Set "
            "it for the consumer."
        )
    return os.environ[name]


def open_source(trigger: Trigger, url: str, *, raw: bool) -> MessageSource:
    """Return the trigger's queue at the broker `url`; it connects on first use. Raises Unclear."""
    queue = trigger.settings["queue"]
    is_redis = url.startswith(REDIS)
    if raw and not is_redis:
        raise Unclear(
            "--raw works only with lists in Redis. Omit it: other brokers transport JSON unchanged."
        )
    if queue in _own_queues() or queue.startswith(valkyr_settings().key_prefix):
        raise Unclear(f"{queue!r} is one of Valkyr's own queues. Use another name.")
    if is_redis:
        return RedisSource(url, queue, trigger.pk, raw=raw)
    return BrokerSource(url, queue)


def shown(url: str) -> str:
    """Return one or more URLs without users and passwords: `amqp://a//;amqp://b//`."""
    each = [urlsplit(one) for one in url.split(";")]
    return ";".join(p._replace(netloc=p.netloc.rpartition("@")[2]).geturl() for p in each)


def _own_queues() -> set[str]:
    own = {messaging.at_broker(name) for name in OWN_QUEUES | {m.queue for m in catalog().values()}}
    return own | {str(messaging.celery_app().conf.task_default_queue)}
