"""A backlog made quickly: copies of one waiting execution, in the tables and in the queue."""

import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any
from uuid import UUID

import psycopg
import redis
from celery import current_app
from django.db import connection
from uuid6 import uuid7

from executions.models import Workflow, WorkflowExecution
from runners import dispatch
from runners.models import Run
from tests.chaos.brokers import Broker, RedisBroker
from tests.chaos.stage import KEY_PREFIX
from tests.support.waiting import wait_until
from tests.support.workflows import start

NEW = "CREATE TEMP TABLE new_ids (execution uuid, run uuid)"
EXECUTIONS = """
INSERT INTO executions_workflowexecution
SELECT (jsonb_populate_record(e, jsonb_build_object('id', n.execution))).*
  FROM executions_workflowexecution e CROSS JOIN new_ids n
 WHERE e.id = %s
"""
RUNS = """
INSERT INTO runners_run
SELECT (jsonb_populate_record(r, jsonb_build_object(
           'id', n.run, 'execution_id', n.execution, 'publications', 1))).*
  FROM runners_run r CROSS JOIN new_ids n
 WHERE r.id = %s
"""
ANALYZE = ("ANALYZE runners_run", "ANALYZE executions_workflowexecution")
BATCH = 5_000


def quick_to_fill(broker: Broker) -> bool:
    """Whether messages can be copied into its queue by thousands."""
    return isinstance(broker, RedisBroker)


def fill(broker: Broker, workflow: Workflow, number: int) -> None:
    """So many executions of one step, sent once and not claimed; nobody may listen meanwhile."""
    first = _waiting(workflow)
    run = Run.objects.get(execution_id=first)
    ids = [(uuid7(), uuid7()) for _ in range(number - 1)]
    with _session() as own:
        own.execute(NEW)
        with own.cursor().copy("COPY new_ids FROM STDIN") as copy:
            for pair in ids:
                copy.write_row(pair)
        own.execute(EXECUTIONS, [first])
        own.execute(RUNS, [run.pk])
    with _session(autocommit=True) as own:
        for statement in ANALYZE:
            own.execute(statement)
    executions = [execution for execution, _ in ids]
    if isinstance(broker, RedisBroker):
        _copy_messages(broker.url, first, executions)
    else:
        _publish(first, executions, run)


def _waiting(workflow: Workflow) -> UUID:
    """An execution whose message is in the queue, sent once.

    The broker may hand a message to a worker that was killed a moment ago; that one is lost, and
    what the sweeper sends in its place is no backlog. Its execution is taken away again.
    """
    while True:
        first = start(workflow)
        with suppress(AssertionError):
            wait_until(_somebody_waits, 3, "the message in the queue")
            return first
        clear(workflow)


def _somebody_waits() -> bool:
    with current_app.connection_for_write() as link:
        return bool(link.default_channel.queue_declare("default", passive=True).message_count)


def clear(workflow: Workflow) -> None:
    """Take the executions of a workflow out of the tables, and empty the queue."""
    with current_app.connection_for_write() as link:
        link.default_channel.queue_purge("default")
    with _session() as own:
        mine = "SELECT id FROM executions_workflowexecution WHERE workflow_id = %s"
        for table, column in _referring(own):
            own.execute(f"DELETE FROM {table} WHERE {column} IN ({mine})", [workflow.pk])
        own.execute(
            "DELETE FROM executions_workflowexecution WHERE workflow_id = %s", [workflow.pk]
        )


def _referring(own: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Tables with a key to executions, and its column; executions' own parents left out."""
    return own.execute(
        "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
        "WHERE c.confrelid = 'executions_workflowexecution'::regclass AND c.contype = 'f' "
        "AND c.conrelid <> c.confrelid"
    ).fetchall()


def _copy_messages(url: str, first: UUID, executions: list[UUID]) -> None:
    """The first one's message, with another id in its body and headers each."""
    with redis.Redis.from_url(url) as server:
        [key] = [
            key for key in server.scan_iter(f"{KEY_PREFIX}default*") if server.type(key) == b"list"
        ]
        [text] = server.lrange(key, 0, -1)
        body = base64.b64decode(json.loads(text)["body"]).decode()
        told = json.loads(text)
        for batch in _batches(executions):
            server.lpush(key, *(_copy(told, body, str(first), str(one)) for one in batch))


def _copy(told: dict[str, Any], body: str, first: str, other: str) -> str:
    task = str(uuid7())
    properties = {
        **told["properties"],
        "correlation_id": task,
        "delivery_tag": str(uuid7()),
        "body_encoding": "base64",
    }
    headers = {**told["headers"], "id": task, "root_id": task}
    encoded = base64.b64encode(body.replace(first, other).encode()).decode()
    return json.dumps({**told, "headers": headers, "properties": properties, "body": encoded})


def _publish(first: UUID, executions: list[UUID], run: Run) -> None:
    version = WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=first)
    canvas = dispatch.Chain((dispatch.Link(run.segment, run.queue, run.step_path),))
    for batch in _batches(executions):
        dispatch.publish([dispatch.Parcel(one, version, run.priority, (canvas,)) for one in batch])


def _batches(ids: list[UUID]) -> Iterator[list[UUID]]:
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _session(*, autocommit: bool = False) -> psycopg.Connection[Any]:
    """One without the engine's time limits, and without a look at each row's foreign keys."""
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    return psycopg.connect(
        autocommit=autocommit,
        options="-c session_replication_role=replica",
        **{name: given[name] for name in names if given.get(name)},
    )
