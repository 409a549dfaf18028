"""A list in Redis, read so that no message is lost or, though it has no id, started twice.

A message moves in one step from the list into a hash of those in flight, under a token made
before. A consumer that dies leaves it there; the next one finds it, with the same token. Two
consumers may hold one message for a while: the token makes that harmless, and only the one that
took it last may give it back.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from uuid6 import uuid7

from executions.triggers.queues.message import QueueMessage, Unreadable, open_envelope
from executions.triggers.queues.source import Lost, UnusableSource

# kombu keeps messages of higher priority numbers in lists of their own, read after the first.
PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
# A message in flight for longer than this may have been left by a consumer that died.
STALE_SECONDS = 30.0
TIMEOUT_SECONDS = 5.0

# In flight: who holds it (32), since when (10), which list it came from (1), and the message.
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
    """`raw`: plain JSON pushed to the end of the list with RPUSH; else messages of kombu's."""

    def __init__(self, url: str, queue: str, trigger_id: UUID, *, raw: bool = False) -> None:
        # No retries in the client: a second try would take a second message under one token.
        self._redis = redis.Redis.from_url(
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
        """As Source; first what consumers before this one left in flight."""
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
        """As Source."""
        with _loss():
            self._redis.hdel(self._keys[0], str(self._held))

    def give_back(self) -> None:
        """As Source; nothing to do where another consumer has taken it over."""
        side = "LPUSH" if self._raw else "RPUSH"
        with _loss():
            self._eval(GIVE_BACK, side, str(self._held), self._owner)

    def close(self) -> None:
        """As Source."""
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
        """At first everything in flight, later what is there for long."""
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
    """The hash of what a trigger's consumers took and have not acknowledged."""
    return f"{queue}:valkyr-in-flight:{trigger_id}"


@contextmanager
def _loss() -> Iterator[None]:
    try:
        yield
    except (redis.AuthenticationError, redis.ResponseError) as error:
        raise UnusableSource(str(error)) from error
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise Lost(str(error)) from error
