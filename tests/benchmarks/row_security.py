"""The cost of row-level security for a request: `python -m tests.benchmarks.row_security`.

Two web processes on one database, one with it and one without, answer the same requests in turns.
The CPU of a side is that of its web process and of its sessions' server processes. Each kind of
request shows milliseconds of CPU of a request and the median quotient of the pairs. Both processes
are restarted in each round, because two processes of one program differ by 1 to 2 % for as long as
they run. `--same` compares two processes without row-level security, which shows the noise.
"""

import argparse
import os
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import mean, median, quantiles
from typing import Any

import httpx

from tests.benchmarks.cpu import process_seconds, tree_seconds
from tests.benchmarks.programs import Program, web
from tests.benchmarks.sides import wait
from tests.benchmarks.stage import Stage
from valkyr_project.embedded.child import free_port

ROWS = 40  # repetitions of each kind of row, in each of two workspaces
SLOWEST = 0.4  # seconds of one side of a pair, as a measured request predicts
MOST = 60  # requests of one side of a pair
Sides = tuple["Side", "Side"]


@dataclass(frozen=True, slots=True)
class Request:
    """One kind of request; each is sent with the headers of its caller."""

    name: str
    path: str
    headers: dict[str, str]
    method: str = "GET"
    body: Any = None


@dataclass(slots=True)
class Cost:
    """CPU milliseconds of a request in each pair: without and with row-level security."""

    off: list[float] = field(default_factory=list)
    on: list[float] = field(default_factory=list)
    database: list[tuple[float, float]] = field(default_factory=list)

    @property
    def quotients(self) -> list[float]:
        """The CPU with row-level security, divided by the CPU without it, for each pair."""
        return [on / off for off, on in zip(self.off, self.on, strict=True)]


class Side:
    """One web process, and its sessions."""

    def __init__(self, stage: Stage, name: str, enabled: bool) -> None:
        own = {
            "VALKYR_PROCESS": f"web-{name}",
            "VALKYR_ROW_LEVEL_SECURITY": str(int(enabled)),
            "PYTHONHASHSEED": "0",
        }
        self._sessions = f"valkyr-web-{name}"
        self._port = free_port()
        self.program: Program = stage.add(web(stage.folder, self._port, **own))
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=30)
        wait(self._answers, stage, 0.2)

    def ask(self, request: Request) -> httpx.Response:
        """Send a request and return the answer. Raises AssertionError if the request fails."""
        answer = self.client.request(
            request.method, request.path, headers=request.headers, json=request.body
        )
        assert answer.status_code in {200, 202}, (request, answer.status_code, answer.text[:500])
        return answer

    def spent(self, request: Request, times: int) -> tuple[float, float]:
        """Send a request many times; return the CPU milliseconds of one: web process, database."""
        while True:
            pids = self._backends()
            began = tree_seconds(self.program.pid), sum(map(process_seconds, pids))
            for _ in range(times):
                self.ask(request)
            ended = tree_seconds(self.program.pid), sum(map(process_seconds, pids))
            if self._backends() == pids:  # else the pool has opened or closed a session meanwhile
                break
        here, there = (1000 * (b - a) / times for a, b in zip(began, ended, strict=True))
        return here, there

    def _answers(self) -> bool:
        try:
            return self.client.get("/actuator/health/live").is_success
        except httpx.TransportError:
            return False

    def _backends(self) -> list[int]:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = %s ORDER BY pid",
                [self._sessions],
            )
            return [pid for (pid,) in cursor.fetchall()]


def main() -> None:
    """Start the servers, fill the database, measure, print."""
    given = _options()
    with Stage() as stage:
        requests = [one for one in _prepared(stage) if given.only in one.name]
        costs = {one.name: Cost() for one in requests}
        for round_ in range(given.rounds):
            _round(stage, requests, costs, given, first=round_ % 2 == 0)
        _print(costs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3, help="starts of both processes (3)")
    parser.add_argument("--pairs", type=int, default=12, help="of each request in a round (12)")
    parser.add_argument("--only", default="", help="requests with this text in their name")
    parser.add_argument("--same", action="store_true", help="both without it: shows the noise")
    return parser.parse_args()


def _round(
    stage: Stage,
    requests: list[Request],
    costs: dict[str, Cost],
    given: argparse.Namespace,
    *,
    first: bool,
) -> None:
    """Measure all requests on two new processes; `first` tells which of them starts first."""
    made = {
        on: Side(stage, "on" if on else "off", on and not given.same) for on in (first, not first)
    }
    for request in requests:
        times = _number(made[False], request)
        same = [made[on].ask(request).status_code for on in (False, True)]
        assert same[0] == same[1], (request.name, same)
        for side in made.values():
            side.spent(request, 10)
        for pair in range(given.pairs):
            found = {on: made[on].spent(request, times) for on in (pair % 2 == 0, pair % 2 == 1)}
            cost = costs[request.name]
            cost.off.append(sum(found[False]))
            cost.on.append(sum(found[True]))
            cost.database.append((found[False][1], found[True][1]))
    for side in made.values():
        side.client.close()
        stage.end(side.program)


def _number(side: Side, request: Request) -> int:
    """Return how many requests one side of a pair sends."""
    for _ in range(5):
        side.ask(request)
    web_ms, database_ms = side.spent(request, 5)
    return max(3, min(MOST, round(1000 * SLOWEST / (web_ms + database_ms))))


def _print(costs: dict[str, Cost]) -> None:
    print(
        f"{'request':42} {'off ms':>7} {'on ms':>7} {'db off':>7} {'db on':>7} {'CPU':>6}"
        f" {'quartiles':>13}"
    )
    for name, cost in costs.items():
        low, _, high = quantiles(cost.quotients, n=4)
        off, on = (mean(one[side] for one in cost.database) for side in (0, 1))
        print(
            f"{name:42} {mean(cost.off):7.2f} {mean(cost.on):7.2f} {off:7.2f} {on:7.2f}"
            f" {median(cost.quotients):6.3f} {low:6.3f} {high:6.3f}",
            flush=True,
        )


def _prepared(stage: Stage) -> list[Request]:
    """Create the policies and the rows; return the requests of an administrator of one of two
    workspaces.
    """
    from django.core.management import call_command
    from django.db import connection

    from executions import configuration
    from executions.database import row_security

    os.environ |= {
        "VALKYR_ROW_LEVEL_SECURITY": "1",
        "VALKYR_KEY": "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=",
        "VALKYR_API_RATE": "0",
        "VALKYR_TRIGGER_RATE": "0",
        "VALKYR_LOG_LEVEL": "CRITICAL",
        "VALKYR_STATIC_ROOT": str(stage.folder / "static"),
    }
    configuration.forget()
    row_security.install()
    os.environ["VALKYR_ROW_LEVEL_SECURITY"] = "0"
    configuration.forget()
    from django.conf import settings

    settings.STATIC_ROOT = stage.folder / "static"
    call_command("collectstatic", verbosity=0, interactive=False)
    found = _requests()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return found


def _requests() -> list[Request]:
    """Return the kinds of requests: of a session, of a service account, and of a page."""
    from django.test import Client

    from dlq.models import DeadLetterEntry
    from executions.access.actor import Actor
    from executions.accounts.token_sessions import SessionAccess
    from executions.accounts.tokens import create_token
    from executions.models import WorkflowExecution
    from tests.support.admin_rows import one_of_each
    from tests.support.signed_in import bearer
    from tests.support.two_workspaces import planted

    (here, boss, _), (there, _, _) = planted("here"), planted("there")
    for place in (here, there):
        one_of_each(place.workflows.first(), ROWS)
    SessionAccess.lifetime = timedelta(hours=6)
    page = Client(SERVER_NAME="127.0.0.1")
    page.force_login(boss)
    session = {"Cookie": f"sessionid={page.cookies['sessionid'].value}"}
    member = {"Authorization": bearer(boss)}
    _, text = create_token(here, boss, name="bench", maker=boss, actor=Actor.system("benchmark"))
    token = {"Authorization": f"Bearer {text}"}
    flow = here.workflows.first().pk
    failed = WorkflowExecution.objects.filter(workspace=here, state="FAILED").latest("pk").pk
    letter = DeadLetterEntry.objects.filter(workspace=here).latest("pk").pk
    execution, admin = "/v1/WorkflowExecution", "/admin/executions/workflowexecution"
    start = {"method": "POST", "body": {"params": {}}}
    return [
        Request("API me", "/v1/Me", member),
        Request("API workflows", "/v1/Workflow", member),
        Request("API workflow", f"/v1/Workflow/{flow}", member),
        Request("API executions", execution, member),
        Request("API executions, token", execution, token),
        Request("API execution", f"{execution}/{failed}", member),
        Request("API timeline", f"{execution}/{failed}/timeline", member),
        Request("API start", f"{execution}/{flow}/execute", member, **start),
        Request("API start, token", f"{execution}/{flow}/execute", token, **start),
        Request("API runs", "/v1/Run", member),
        Request("API dead letters", "/v1/DeadLetterQueue", member),
        Request("API dead letter", f"/v1/DeadLetterQueue/{letter}", member),
        Request("API failure groups", "/v1/FailureGroup", member),
        Request("API activity", "/v1/Activity", member),
        Request("admin index", "/admin/", session),
        Request("admin executions", f"{admin}/", session),
        Request("admin execution", f"{admin}/{failed}/change/", session),
        Request("admin workflows", "/admin/executions/workflow/", session),
        Request("admin runs", "/admin/runners/run/", session),
        Request("admin dead letters", "/admin/dlq/deadletterentry/", session),
        Request("admin dead letter", f"/admin/dlq/deadletterentry/{letter}/change/", session),
    ]


if __name__ == "__main__":
    sys.exit(main())
