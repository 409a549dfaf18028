"""Stop taking messages while the worker cannot reach the database.

Otherwise it would hold each received message until the network times out, and a broker that pushes
messages (RabbitMQ) would deliver several. Their runs would wait until the sweeper sends them again,
perhaps to the same worker. The worker therefore queries the database every 2 s, over a connection
that never blocks, and after 6 s of silence stops consuming Valkyr's own queues. Every 10 s, if
`canary` reports no problem, the query inserts or updates the row with the worker's name.
"""

import json
import logging
import os
import select
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from psycopg import conninfo, pq
from psycopg.sql import SQL, Identifier, Literal

from executions import messaging
from executions.database.ids import uuid7
from runners.conf import pool, worker_name
from runners.models import Runner
from runners.process import own_connection
from runners.workers import canary
from runners.workers.name_lookup import NameLookup, is_name

log = logging.getLogger(__name__)

# Seconds between looks, between queries, and without an answer until the worker takes no messages.
# A handshake takes several looks per round trip, so looks are frequent.
LOOK_EVERY, ASK_EVERY, SILENCE = 0.25, 2.0, 6.0
# Seconds without an answer after which a connection is replaced, and after which a handshake is
# repeated with another host.
GIVEN_UP, HANDSHAKE = 10.0, 8.0
QUESTION = b"SELECT 1"
SEEN_EVERY = 10.0
SEEN = SQL("""
INSERT INTO {table} AS known (id, name, host, pid, pool, processes, queues, started_at, seen_at)
VALUES ({id}, {name}, {host}, {pid}, {pool}, {processes}, {queues}::jsonb, clock_timestamp(),
        clock_timestamp())
    ON CONFLICT (name) DO UPDATE
    SET seen_at = clock_timestamp(), host = excluded.host, pid = excluded.pid,
        pool = excluded.pool, processes = excluded.processes, queues = excluded.queues,
        leaving_at = CASE WHEN (known.host, known.pid) = (excluded.host, excluded.pid)
                          THEN known.leaving_at END
""")
ANSWERS = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)
# Maximum messages of a handshake that one look handles, and the wait for each.
STEPS, STEP_MILLISECONDS = 20, 10


class DatabaseProbe:
    """A libpq connection that sends queries and reads answers without blocking.

    In nonblocking mode, libpq has no time limit per host, so each attempt to connect names one
    host. libpq also waits for the resolver, so a thread looks up the host's address for the
    attempt.
    """

    def __init__(self, parameters: Mapping[str, Any], handshake: float = HANDSHAKE) -> None:
        """Store the arguments of `psycopg.connect`; the first `look` connects.

        `handshake` is the number of seconds without a connection after which the next host is
        tried.
        """
        self._targets = list(_by_host(parameters))
        self._lookups: dict[str, NameLookup] = {}
        self._handshake = handshake
        self._attempt = 0
        self._connection: pq.abc.PGconn | None = None
        self._ready = False
        self._waits_for = ""  # the host that is being looked up for this attempt
        self._begun_at = self._answered_at = time.monotonic()
        self._asked_at = float("-inf")

    def look(self, question: bytes = QUESTION) -> bool:
        """Read any answer, then send `question`: one query at a time, at most every 2 s.

        Connects first if necessary. Returns whether a query was sent.
        """
        try:
            if self._connection is None:
                self._begin()
            if self._connection is not None and not self._ready:
                self._connect()
            if self._ready and self._hear() and time.monotonic() - self._asked_at >= ASK_EVERY:
                self._ask(question)
                return True
            since = max(self._begun_at, self._answered_at)
            if time.monotonic() - since > (GIVEN_UP if self._ready else self._handshake):
                self.close()
        except (psycopg.Error, OSError) as error:
            log.debug("the database did not answer (%s)", error)
            self.close()
        return False

    def silence(self) -> float:
        """Return the seconds since the last answer."""
        return time.monotonic() - self._answered_at

    def close(self) -> None:
        """Close the connection; the next `look` opens another one.

        The next attempt uses the first host if this connection was ready, otherwise the next host.
        """
        self._attempt = 0 if self._ready else self._attempt + 1
        if self._connection is not None:
            self._connection.finish()
        self._connection, self._ready, self._asked_at = None, False, float("-inf")
        self._waits_for = ""

    def _begin(self) -> None:
        """Start to connect once the host's address is known. Raises OperationalError or OSError."""
        target = self._targets[self._attempt % len(self._targets)]
        host = str(target.get("host", ""))
        if is_name(host) and not target.get("hostaddr"):
            addresses = self._look_up(host)
            if addresses is None:
                return
            turn = self._attempt // len(self._targets)
            target = {**target, "hostaddr": addresses[turn % len(addresses)]}
        self._connection = pq.PGconn.connect_start(conninfo.make_conninfo(**target).encode())
        self._begun_at = time.monotonic()
        if self._connection.status == pq.ConnStatus.BAD:
            raise psycopg.OperationalError(_said(self._connection))

    def _look_up(self, host: str) -> list[str] | None:
        """Return the host's addresses; None until they are known. Raises OSError if there are none.

        Each host has at most one thread, even if the resolver is slower than the attempt.
        """
        if host not in self._lookups:
            self._lookups[host] = NameLookup(host)
        if self._waits_for != host:
            self._waits_for, self._begun_at = host, time.monotonic()
        try:
            found = self._lookups[host].addresses()
        except OSError:
            del self._lookups[host]
            raise
        if found is not None:
            del self._lookups[host]
        return found

    def _connect(self) -> None:
        """Continue the handshake as far as the server has answered. Raises OperationalError."""
        connection = self._connection
        assert connection is not None
        wanted = pq.PollingStatus.WRITING
        for _ in range(STEPS):
            # `select` does not support file descriptors above 1,023.
            ready = select.poll()
            reads = wanted == pq.PollingStatus.READING
            ready.register(connection.socket, select.POLLIN if reads else select.POLLOUT)
            if not ready.poll(STEP_MILLISECONDS):
                return
            wanted = pq.PollingStatus(connection.connect_poll())
            if wanted == pq.PollingStatus.FAILED:
                raise psycopg.OperationalError(_said(connection))
            if wanted == pq.PollingStatus.OK:
                connection.nonblocking = 1
                self._ready = True
                return

    def _hear(self) -> bool:
        """Return whether the last query was answered.

        Raises OperationalError if the connection is broken.
        """
        connection = self._connection
        assert connection is not None
        connection.flush()
        connection.consume_input()
        if connection.is_busy():
            return False
        while (result := connection.get_result()) is not None:
            if result.status in ANSWERS:
                self._answered_at = time.monotonic()
        return True

    def _ask(self, question: bytes) -> None:
        assert self._connection is not None
        self._asked_at = time.monotonic()
        self._connection.send_query(question)
        self._connection.flush()


class Reaching(bootsteps.StartStopStep):
    """Cancels the consumers of Valkyr's own queues while the database is unreachable."""

    requires = (Tasks,)

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        """Start with all queues being consumed."""
        super().__init__(parent, **kwargs)
        self._timer: Any = None
        self._probe: DatabaseProbe | None = None
        self._held: list[Any] = []
        self._holds = self._changing = False
        self._seen = QUESTION
        self._seen_at = float("-inf")

    def start(self, parent: Any) -> None:
        """Start the periodic check. On a new connection, the worker consumes all queues again."""
        self._held, self._holds, self._changing = [], False, False
        self._seen = _seen(parent)
        self._probe = DatabaseProbe(own_connection.parameters())
        self._timer = parent.timer.call_repeatedly(LOOK_EVERY, self._look, (parent, self._probe))

    def stop(self, parent: Any) -> None:
        """Stop the checks of the database until the worker is connected to a broker again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def shutdown(self, parent: Any) -> None:
        """Stop the checks, and close the connection to the database."""
        self.stop(parent)

    def _look(self, parent: Any, probe: DatabaseProbe) -> None:
        # Report the worker as live only if it also receives messages.
        seen = time.monotonic() - self._seen_at >= SEEN_EVERY and canary.proven()
        if probe.look(self._seen if seen else QUESTION) and seen:
            self._seen_at = time.monotonic()
        cut = probe.silence() > SILENCE
        if cut != self._holds and not self._changing:
            # In a pool of threads, the timer runs in another thread than the consumer.
            self._changing = True
            parent.call_soon(self._hold if cut else self._resume, parent)

    def _hold(self, parent: Any) -> None:
        self._holds, self._changing = True, False
        consumer = parent.task_consumer
        ours = _alone(parent.app.amqp.queues.consume_from)
        self._held = [queue for queue in consumer.queues if queue.name in ours]
        for queue in self._held:
            consumer.cancel_by_queue(queue.name)
        log.warning(
            "the database has not answered for %g s; this worker takes no messages until it does",
            SILENCE,
        )

    def _resume(self, parent: Any) -> None:
        self._holds, self._changing = False, False
        consumer = parent.task_consumer
        for queue in self._held:
            consumer.add_queue(queue)
        consumer.consume()
        self._held = []
        log.warning("the database answers; this worker takes messages again")


def _seen(consumer: Any) -> bytes:
    """Return the statement that updates or inserts the row of the consumer's worker."""
    row = {
        "id": uuid7(),
        "name": worker_name(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "pool": pool(),
        "processes": max(1, consumer.pool.num_processes or 1),
        "queues": json.dumps(messaging.ours_among(consumer.app.amqp.queues.consume_from)),
    }
    given = {name: Literal(value) for name, value in row.items()}
    return SEEN.format(table=Identifier(Runner._meta.db_table), **given).as_bytes()


def _by_host(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the parameters for one host at a time; `hostaddr` may contain an address per host."""
    several = {
        name: str(parameters[name]).split(",")
        for name in ("host", "hostaddr", "port")
        if parameters.get(name)
    }
    most = max((len(several.get(name, ())) for name in ("host", "hostaddr")), default=0)
    if most < 2:
        yield parameters
        return
    for place in range(most):
        # A single port applies to all hosts.
        own = {name: found[place if len(found) > 1 else 0] for name, found in several.items()}
        yield {**parameters, **own}


def _said(connection: pq.abc.PGconn) -> str:
    return connection.error_message.decode("utf-8", "replace").strip()


def _alone(names: Any) -> set[str]:
    """Return the queues that only Valkyr's own tasks use."""
    return {name for name in names if messaging.ours_among([name])} - {
        *messaging.shared_among(names)
    }
