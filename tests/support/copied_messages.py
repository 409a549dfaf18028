"""Copies of messages that wait in Redis, each for another execution.

A copy has its own task id and delivery tag. Otherwise it is equal to the original, with the other
execution's id in place of the first.
"""

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

import redis
from celery import current_app

NEWEST = 1_000  # messages of each list that are searched for an execution's
AT_ONCE = 5_000  # copies a command
BODY = "<body>"


class Message:
    """One waiting message, parsed once so that thousands of copies cost little."""

    def __init__(self, key: bytes, text: bytes) -> None:
        self.key = key
        told: dict[str, Any] = json.loads(text)
        self.body = base64.b64decode(told["body"]).decode()
        self._rest = json.dumps(told | {"body": BODY})
        self._task = told["headers"]["id"]
        self._tag = told["properties"]["delivery_tag"]

    @property
    def steps(self) -> int:
        """Return the number of steps in the message. Raise ValueError if it is bound to other
        messages.
        """
        arguments, _, embedded = json.loads(self.body)
        if embedded["chain"] or embedded["chord"]:
            raise ValueError("a message of a chain or chord cannot be copied alone")
        others: Sequence[str] = arguments[3] if len(arguments) > 3 else ()
        return 1 + len(others)

    def copy(self, first: str, other: str) -> str:
        """Return the message for another execution instead of the first."""
        body = base64.b64encode(self.body.replace(first, other).encode()).decode()
        rest = self._rest.replace(first, other).replace(self._task, str(uuid4()))
        return rest.replace(self._tag, str(uuid4())).replace(BODY, body)


def waiting(execution: UUID, queues: Iterable[str], steps: int) -> list[Message]:
    """Return the messages for an execution's steps, in the order in which they were sent.

    Raise LookupError if the queues have messages for fewer steps.
    """
    prefix = current_app.conf.broker_transport_options["global_keyprefix"]
    with _server() as server:
        keys = [
            key
            for queue in sorted(set(queues))
            for key in server.scan_iter(f"{prefix}{queue}*", _type="LIST")
        ]
        found = [
            message
            for key in keys
            for text in reversed(server.lrange(key, 0, NEWEST - 1))
            if str(execution) in (message := Message(key, text)).body
        ]
    carried = sum(message.steps for message in found)
    if carried != steps:
        raise LookupError(f"messages in the queue carry {carried} of {steps} steps of {execution}")
    return found


def send(originals: Sequence[Message], first: UUID, others: Sequence[UUID]) -> None:
    """Copy the first execution's messages for the others, in their order."""
    rest = iter(others)
    with _server() as server:
        while batch := list(islice(rest, max(1, AT_ONCE // len(originals)))):
            for key, texts in _by_key(originals, str(first), batch):
                server.lpush(key, *texts)


def _by_key(
    originals: Sequence[Message], first: str, others: Sequence[UUID]
) -> Iterator[tuple[bytes, list[str]]]:
    made: defaultdict[bytes, list[str]] = defaultdict(list)
    for other in others:
        for message in originals:
            made[message.key].append(message.copy(first, str(other)))
    yield from made.items()


def _server() -> "redis.Redis":
    conf = current_app.conf
    return redis.Redis.from_url(conf.broker_write_url or conf.broker_url)
