"""Messages that differ in their execution alone: Celery makes the first, the others copy it.

What Celery does for a message (options, routing, representations, an empty canvas) takes 0.2 ms
and comes to the same for all executions of a version. A copy has ids of its own, and is published
as any other.

Relies on: `apply_async(producer=…)` publishes one message of protocol 2 through
`producer.publish(body, **options)`, whose body is `(arguments, keywords, canvas)`, whose headers
hold `id`, `root_id` and `argsrepr`, and whose options hold `correlation_id` and `declare`; the
connection's `declared_entities` (Celery 5.3 to 5.7, kombu 5.3 to 5.7).
No public way: Celery builds each message anew.
If it breaks: workers get messages without the ids they log and trace by, or KeyError is raised
and the sweeper sends every message.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from celery import Signature, current_app
from celery.signals import after_task_publish, before_task_publish
from kombu.utils.functional import LRUCache

# A message says whose task sent it. Outside of tasks it says nothing of the kind, so that what is
# known of it holds for the next request too.
_outside_tasks: Any = LRUCache(limit=256)


class Alike:
    """Sends messages whose first argument is an execution's id, over one producer."""

    def __init__(self, producer: Any) -> None:
        """In a task know none yet, elsewhere those that this process sent."""
        self._producer = producer
        self._known: Any = {} if current_app.current_worker_task else _outside_tasks
        # Who listens to messages being sent (traces, events) is told of each by Celery itself.
        self._copies = not (
            before_task_publish.receivers
            or after_task_publish.receivers
            or current_app.conf.task_send_sent_event
        )

    def send(self, kind: Hashable, execution_id: UUID, make: Callable[[], Signature]) -> None:
        """Send one; `make` is asked for the first of each kind."""
        known = self._known.get(kind) if self._copies else None
        if known is not None:
            body, options = known.copy(str(execution_id))
            self._producer.publish(body, **options, declare=self._undeclared(known))
            return
        seen: Any = _Listening(self._producer)
        make().apply_async(producer=seen, ignore_result=True)
        if self._copies:
            self._known[kind] = _Sent(str(execution_id), seen.body, seen.options)

    def _undeclared(self, known: "_Sent") -> list[Any]:
        """The queues to declare first: those that nobody has declared over this connection."""
        declared = self._producer.connection.declared_entities
        return [queue for queue in known.options["declare"] if hash(queue) not in declared]


@dataclass(frozen=True, slots=True)
class _Sent:
    """What Celery published for an execution: a message of its protocol 2."""

    execution: str
    body: Any
    options: dict[str, Any]

    def copy(self, execution: str) -> tuple[Any, dict[str, Any]]:
        """The same for another execution, but for the queues to declare."""
        own = str(uuid4())
        (_, *others), named, canvas = self.body
        headers = self.options["headers"]
        told = {"id": own, "argsrepr": headers["argsrepr"].replace(self.execution, execution)}
        if headers["root_id"] == headers["id"]:
            told["root_id"] = own
        options = self.options | {"headers": headers | told, "correlation_id": own}
        del options["declare"]
        return ((execution, *others), named, canvas), options


class _Listening:
    """Stands before a producer, and notes what it is given to publish."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.connection = producer.connection
        self.body: Any = None
        self.options: dict[str, Any] = {}

    def publish(self, body: Any, **options: Any) -> Any:
        self.body, self.options = body, options
        return self._producer.publish(body, **options)
