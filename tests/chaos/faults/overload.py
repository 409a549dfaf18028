"""Many times more requests than the web process can answer, from clients that never pause."""

import json
import os
import re
import sys
import time
from collections import Counter
from contextlib import closing
from statistics import median
from subprocess import PIPE, Popen, TimeoutExpired
from uuid import UUID

import httpx
from django.core.management import call_command

from executions.models import Workflow, WorkflowExecution
from executions.states import FINAL
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish, start, task

CLIENTS = 600
# Seconds between two requests of an operator.
LOOKS = 0.5
BOUND = 0.5  # seconds for an answer to health, admin and cancel
WAITS = {"tasks": [task("ask", "flow.approval", **{"with": {"title": "Go?"}})]}


class Crowd:
    """The program `tests.chaos.crowd`, and after its end the answers that its clients got."""

    def __init__(self, web: WebServer, token: str, workflow: Workflow) -> None:
        self.accepted: list[UUID] = []
        self.answers: Counter[str] = Counter()
        self.silent = 0
        url = f"{web.address}/v1/WorkflowExecution/{workflow.pk}/execute"
        self._program = Popen(
            [sys.executable, "-m", "tests.chaos.crowd", url, str(CLIENTS)],
            env=os.environ | {"VALKYR_CROWD_TOKEN": token}, stdin=PIPE, stdout=PIPE, text=True,
        )  # fmt: skip

    def stop(self) -> None:
        """Let the program end; return when the last answer has arrived."""
        try:
            printed, _ = self._program.communicate(timeout=60)
        except TimeoutExpired:
            self._program.kill()
            raise AssertionError("the crowd's last requests got no answer in 60 s") from None
        found = json.loads(printed)
        self.accepted = [UUID(pk) for pk in found["accepted"]]
        self.answers = Counter(found["answers"])
        self.silent = found["silent"]


def _run(world: World) -> None:
    seconds = 60 * world.crowd
    workflow = publish({"tasks": [effect("work")]})
    world.watch.include([workflow.pk])
    with closing(_operator(world)) as operator:
        asks = publish(WAITS)
        waiting = [start(asks) for _ in range(int(seconds / LOOKS))]
        world.own(waiting)
        crowd = Crowd(world.web, world.token, workflow)
        try:
            _look(world, operator, waiting, seconds)
        finally:
            crowd.stop()
            world.own(crowd.accepted)
            for execution in world.still(waiting):
                _cancel(world, execution)
    world.injected(f"crowd of {CLIENTS} clients for {seconds:g} s")
    begun = time.monotonic()
    left = WorkflowExecution.objects.filter(workflow=workflow).exclude(state__in=FINAL)
    wait_until(lambda: not left.exists(), 600 + 2 * seconds, "the end of all that was accepted")
    world.figure("clients", CLIENTS)
    world.figure("answers", ", ".join(f"{n:,} × {code}" for code, n in crowd.answers.items()))
    world.figure(
        "from the end of the overload to the end of the last execution",
        f"{time.monotonic() - begun:.0f} s",
    )
    shed = crowd.answers["503"] + crowd.answers["429"]
    world.figure("requests per accepted start", f"{_times(crowd):.1f}")
    world.figure("requests rejected per second", f"{shed / seconds:.0f}")
    assert shed, "nothing was shed: it was no overload"
    assert not crowd.silent, f"{crowd.silent} of {shed} refusals had no Retry-After"
    codes = {code for code in crowd.answers if code.isdigit()}  # the rest are lost connections
    assert codes <= {"202", "429", "503"}, f"other answers: {crowd.answers}"


def _times(crowd: Crowd) -> float:
    return sum(crowd.answers.values()) / max(1, crowd.answers["202"])


def _look(world: World, operator: httpx.Client, waiting: list[UUID], seconds: float) -> None:
    """Request health and the admin, and cancel an execution, repeatedly; measure the duration of
    each.

    For each of the three, 95 of 100 answers must arrive within the bound.
    """
    until = time.monotonic() + seconds
    took: dict[str, list[float]] = {"health": [], "admin": [], "cancel": []}
    token = {"Authorization": f"Bearer {world.token}"}
    for execution in waiting:
        if time.monotonic() > until:
            break
        cancel = f"/v1/WorkflowExecution/{execution}/cancel"
        for name, method, path, headers in (
            ("health", "GET", "/actuator/health/live", {}),
            ("admin", "GET", "/admin/", {}),
            ("cancel", "POST", cancel, token),
        ):
            begun = time.monotonic()
            answer = operator.request(method, path, headers=headers)
            took[name].append(time.monotonic() - begun)
            world.recovered(path, took[name][-1])
            assert answer.status_code == 200, f"{method} {path} was answered {answer.status_code}"
        world.pause(LOOKS)
    late = []
    for name, found in took.items():
        p95 = sorted(found)[int(0.95 * len(found))]
        world.figure(f"{name} p50 / p95 / worst", _shown(median(found), p95, max(found)))
        late += [f"{name}: p95 {p95:.2f} s"] * (p95 > BOUND and not world.quick)
    assert not late, f"answered later than {BOUND:g} s: {', '.join(late)}"


def _shown(*seconds: float) -> str:
    return " / ".join(f"{1000 * one:.0f}" for one in seconds) + " ms"


def _cancel(world: World, execution: UUID) -> None:
    url = f"{world.web.address}/v1/WorkflowExecution/{execution}/cancel"
    httpx.post(url, headers={"Authorization": f"Bearer {world.token}"}, timeout=30)


def _operator(world: World) -> httpx.Client:
    """Return a client that is signed in to the admin."""
    call_command("collectstatic", interactive=False, verbosity=0)
    world.web.kill()  # it knows the files that existed when it started
    world.web.start()
    client = httpx.Client(base_url=world.web.address, timeout=30)
    page = client.get("/admin/login/").raise_for_status().text
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token is not None
    given = {
        "username": os.environ["VALKYR_ADMIN_USERNAME"],
        "password": os.environ["VALKYR_ADMIN_PASSWORD"],
        "csrfmiddlewaretoken": token[1],
    }
    sent = client.post("/admin/login/?next=/admin/", data=given)
    assert sent.status_code == 302, f"the sign-in was answered {sent.status_code}"
    return client


OVERLOAD = Fault(
    "overload",
    f"{CLIENTS} clients that start executions without a pause",
    "what was accepted ends; the rest is refused with 503 or 429, and when to come back; health, "
    "admin and cancel answer",
    BOUND,
    _run,
    load=Load(rate=0),
)
