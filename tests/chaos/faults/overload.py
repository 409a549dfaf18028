"""Many times the requests that the web process can answer, from clients that never pause."""

import asyncio
import os
import re
import time
from collections import Counter
from contextlib import closing
from threading import Event, Thread
from uuid import UUID, uuid4

import httpx
from django.core.management import call_command

from executions.models import Workflow
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish, start, task

CLIENTS = 600
# Seconds between two requests of an operator.
LOOKS = 0.5
WAITS = {"tasks": [task("ask", "flow.approval", **{"with": {"title": "Go?"}})]}


class Crowd:
    """Clients that start executions as fast as they get answers, whatever the answers are."""

    def __init__(self, web: WebServer, token: str, workflow: Workflow) -> None:
        self.accepted: list[UUID] = []
        self.answers: Counter[str] = Counter()
        self._url = f"{web.address}/v1/WorkflowExecution/{workflow.pk}/execute"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._over = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._all()), name="crowd", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; returns once the last answer is there."""
        self._over.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), "the crowd's last requests got no answer in 60 s"

    async def _all(self) -> None:
        limits = httpx.Limits(max_connections=CLIENTS)
        async with httpx.AsyncClient(headers=self._headers, limits=limits, timeout=30) as http:
            await asyncio.gather(*(self._one(http) for _ in range(CLIENTS)))

    async def _one(self, http: httpx.AsyncClient) -> None:
        key = str(uuid4())
        while not self._over.is_set():
            sent = {"Idempotency-Key": key}
            try:
                answer = await http.post(self._url, json={"params": {}}, headers=sent)
            except httpx.TransportError as error:
                self.answers[type(error).__name__] += 1
                continue
            self.answers[str(answer.status_code)] += 1
            if answer.status_code == 202:
                self.accepted.append(UUID(answer.json()["id"]))
                key = str(uuid4())


def _run(world: World) -> None:
    seconds = 15 if world.quick else 60
    workflow = publish({"tasks": [effect("work")]})
    world.watch.include([workflow.pk])
    with closing(_operator(world)) as operator:
        waiting = [start(publish(WAITS)) for _ in range(int(seconds / LOOKS))]
        world.own(waiting)
        crowd = Crowd(world.web, world.token, workflow)
        crowd.start()
        try:
            _look(world, operator, waiting, seconds)
        finally:
            crowd.stop()
            world.own(crowd.accepted)
            for execution in world.still(waiting):
                _cancel(world, execution)
    world.injected(f"crowd of {CLIENTS} clients for {seconds} s")
    begun = time.monotonic()
    world.wait_all_ended(600)
    world.figure("clients", CLIENTS)
    world.figure("answers", ", ".join(f"{n:,} × {code}" for code, n in crowd.answers.items()))
    world.figure("drained in", f"{time.monotonic() - begun:.0f} s")
    assert crowd.answers["503"] + crowd.answers["429"], "nothing was shed: it was no overload"
    codes = {code for code in crowd.answers if code.isdigit()}  # the rest are lost connections
    assert codes <= {"202", "429", "503"}, f"other answers: {crowd.answers}"


def _look(world: World, operator: httpx.Client, waiting: list[UUID], seconds: float) -> None:
    """Request health and the admin and cancel something, repeatedly; the duration of each."""
    until = time.monotonic() + seconds
    token = {"Authorization": f"Bearer {world.token}"}
    for execution in waiting:
        if time.monotonic() > until:
            break
        cancel = f"/v1/WorkflowExecution/{execution}/cancel"
        for method, path, headers in (
            ("GET", "/actuator/health/live", {}),
            ("GET", "/admin/", {}),
            ("POST", cancel, token),
        ):
            begun = time.monotonic()
            answer = operator.request(method, path, headers=headers)
            world.recovered(path, time.monotonic() - begun)
            assert answer.status_code == 200, f"{method} {path} was answered {answer.status_code}"
        world.pause(LOOKS)


def _cancel(world: World, execution: UUID) -> None:
    url = f"{world.web.address}/v1/WorkflowExecution/{execution}/cancel"
    httpx.post(url, headers={"Authorization": f"Bearer {world.token}"}, timeout=30)


def _operator(world: World) -> httpx.Client:
    """A client that is signed in to the admin."""
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
    "what was accepted ends; the rest is refused with 503 or 429; health, admin and cancel answer",
    0.5,
    _run,
    load=Load(rate=0),
)
