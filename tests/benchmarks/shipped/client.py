"""Send work to a stack over HTTP, wait for its end, and report the CPU of all processes.

A session asks the stack's database when the last execution ended and whether all have ended.
Waiting costs almost nothing, because the session reads only the last few executions.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

import httpx
import psycopg
from celery.utils.nodenames import gethostname, nodename
from kombu import Connection
from kombu.pidbox import Mailbox

from tests.benchmarks.cast import Cast
from tests.benchmarks.shipped.loads import WARM, ShippedLoad
from tests.benchmarks.shipped.stack import RunningStack
from tests.benchmarks.sides import wait

BATCH = 250  # executions a request
LAST = 8  # share of the executions to look at while others run
WARM_SHARE = 0.1
QUEUE = "default"
SETTLE, RESTING, SETTLING = 5.0, 0.25, 600.0  # seconds; of a core; seconds at most
KEYS = {"global_keyprefix": "valkyr:"}

UNFINISHED = """
SELECT EXISTS (SELECT FROM executions_workflowexecution
                WHERE id = ANY(%s::uuid[]) AND finished_at IS NULL)
"""
ENDED = """
SELECT count(*) FILTER (WHERE state = 'SUCCESS'), extract(epoch FROM max(finished_at))::float
  FROM executions_workflowexecution WHERE id = ANY(%s::uuid[])
"""
WORKED = """
SELECT extract(epoch FROM min(started_at))::float, extract(epoch FROM max(finished_at))::float
  FROM runners_run WHERE execution_id = ANY(%s::uuid[])
"""
DONE = "SELECT count(*) FROM runners_run WHERE execution_id = ANY(%s::uuid[]) AND state = 'SUCCESS'"
STARTED = "SELECT id FROM executions_workflowexecution WHERE workflow_id = %s"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The cost of some executions: all CPU of the stack in seconds, by process."""

    steps: int
    seconds: float
    cpu: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Steps per second."""
        return self.steps / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per step, of all processes."""
        return sum(self.by_process().values())

    def by_process(self) -> dict[str, float]:
        """Return CPU milliseconds per step, by process."""
        return {name: 1000 * used / self.steps for name, used in self.cpu.items()}

    def __add__(self, other: "Stretch") -> "Stretch":
        names = self.cpu.keys() | other.cpu.keys()
        cpu = {name: self.cpu.get(name, 0.0) + other.cpu.get(name, 0.0) for name in names}
        return Stretch(self.steps + other.steps, self.seconds + other.seconds, cpu)


class StackClient:
    """A signed-in user who may start workflows."""

    def __init__(self, stack: RunningStack, cast: Cast) -> None:
        self.stack, self._cast = stack, cast
        facts = stack.facts
        self.url = facts["url"]
        # Web processes close a connection that is silent for 5 s.
        kept = httpx.Limits(keepalive_expiry=2)
        self.http = httpx.Client(base_url=self.url, timeout=60, limits=kept)
        self.database = psycopg.connect(facts["database_url"], autocommit=True)
        self._broker = facts["redis_url"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect; the stack continues."""
        self.http.close()
        self.database.close()

    def settle(self) -> None:
        """Wait until the stack is nearly idle, for example after a start on full tables."""

        def rests() -> bool:
            before = sum(self.stack.cpu().values())
            time.sleep(SETTLE)
            return (sum(self.stack.cpu().values()) - before) / SETTLE < RESTING

        wait(rests, self._cast, 0, SETTLING)

    def publish(self, document: dict[str, Any], name: str) -> str:
        """Publish a workflow with that name; return its id."""
        self.token()
        [workspace] = self.one("SELECT id FROM executions_workspace WHERE slug = 'default'")
        made = self._post(
            "/v1/Workflow",
            {"definition": document | {"name": name}, "workspaceId": str(workspace)},
        )
        self._post(f"/v1/Workflow/{made['id']}/publish", {})
        return str(made["id"])

    def token(self) -> str:
        """Sign in again, because a token expires before a benchmark ends; return the token."""
        answer = self.http.post("/v1/auth/token", json=self.stack.account)
        answer.raise_for_status()
        token = str(answer.json()["access"])
        self.http.headers["Authorization"] = f"Bearer {token}"
        return token

    def warm_up(self) -> None:
        """Make every involved process do its work once."""
        self.measure(self.publish(WARM.document, "warm up"), WARM, WARM.executions)

    def measured(self, load: ShippedLoad, scale: float) -> Stretch:
        """Measure a load's executions, with workflows published for it."""
        many = load.sized(scale)
        if load.anew:
            parts = [
                self.measure(
                    self.publish(load.document, f"{load.name} {n}"), load, many // load.anew
                )
                for n in range(load.anew)
            ]
            return sum(parts[1:], parts[0])
        workflow = self.publish(load.document, load.name)
        self.measure(workflow, load, max(4, round(many * WARM_SHARE)))
        return self.measure(workflow, load, many)

    def measure(self, workflow: str, load: ShippedLoad, executions: int) -> Stretch:
        """Send this number of executions and wait for the last. Raise RuntimeError if one did not
        succeed.
        """
        before, began = self.stack.cpu(), time.time()
        if not load.held:
            return self.waited(self._send(workflow, executions), load.steps, began, before)
        with self._held():
            ids = self._send(workflow, executions)
        made = self.waited(ids, load.steps, began, before)
        # A resumed worker looks at its queue some time later.
        [first, last] = self.one(WORKED, ids)
        return replace(made, seconds=last - first)

    def waited(
        self, ids: Sequence[Any], steps: int, began: float, before: dict[str, float]
    ) -> Stretch:
        """Wait until these executions have ended; `before` is the CPU read before the first."""
        wait(lambda: self._ended(ids), self._cast, 0.05)
        after = self.stack.cpu()
        good, ended = self.one(ENDED, ids)
        [runs] = self.one(DONE, ids)
        if (good, runs) != (len(ids), len(ids) * steps):
            raise RuntimeError(
                f"{good} of {len(ids)} executions and {runs} of {len(ids) * steps} runs succeeded"
            )
        cpu = {name: max(0.0, used - before.get(name, 0.0)) for name, used in after.items()}
        return Stretch(len(ids) * steps, ended - began, cpu)

    def started(self, workflow: str) -> list[Any]:
        """Return the executions of a workflow."""
        return [pk for (pk,) in self.database.execute(STARTED, [workflow]).fetchall()]

    def one(self, query: str, *values: Any) -> tuple[Any, ...]:
        """Return the only row of a query."""
        row = self.database.execute(query.encode(), list(values)).fetchone()
        assert row is not None
        return tuple(row)

    def _ended(self, ids: Sequence[Any]) -> bool:
        return not any(self.one(UNFINISHED, list(some))[0] for some in (ids[-LAST:], ids))

    def _send(self, workflow: str, executions: int) -> list[Any]:
        ids: list[Any] = []
        for first in range(0, executions, BATCH):
            payloads = [{"n": n} for n in range(first, min(first + BATCH, executions))]
            path = f"/v1/WorkflowExecution/{workflow}/execute-batch"
            ids += self._post(path, {"payloads": payloads})["ids"]
        return ids

    @contextmanager
    def _held(self) -> Iterator[None]:
        """During the block, stop the step worker from taking messages, as if it started later."""
        self._order("cancel_consumer")
        try:
            yield
        finally:
            self._order("add_consumer")

    def _order(self, command: str) -> None:
        """Send a Celery remote control command about the queue. Raise RuntimeError if no worker
        answers.

        It uses a separate connection: Celery pools connections by address, and the next stack may
        have the address of one that has ended.
        """
        worker = nodename(QUEUE, gethostname())
        with Connection(self._broker, transport_options=KEYS) as connection:
            mailbox = Mailbox("celery", type="fanout", accept=["json"])(connection)
            if not mailbox.call([worker], command, {"queue": QUEUE}, timeout=5):
                raise RuntimeError(f"{worker} did not answer {command} within 5 s")

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post(path, json=body)
        if not answer.is_success:
            raise RuntimeError(f"{path} answers {answer.status_code}: {answer.text[:500]}")
        found: dict[str, Any] = answer.json()
        return found
