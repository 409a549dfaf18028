"""A canary: one secret, used in every way by real workers, and searched for wherever it could be.

The test searches every column of every table, every command to Redis, every line of the workers'
logs (at the most verbose level), every page and every answer. Only the receiver may have the
secret.
"""

import base64
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID

import pytest
import redis as redis_client
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import credentials
from executions.models import Credential, Workflow, WorkflowExecution
from runners.models import Run
from tests.support import gossip
from tests.support.collector import Collector, collecting
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, Member, publishing_to
from tests.support.folders import passable_folder
from tests.support.partner import Partner
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, default_workspace, publish, start, task, wait_for_end
from valkyr_project.embedded import Redis
from valkyr_project.processes.commands import CELERY

pytestmark = [pytest.mark.usefixtures("static_files")]

CANARY = "c4nary/+\"&<%>\\ '7f3a9c5e1b2d"
FLAGS = ("--without-gossip", "--without-mingle", "--loglevel", "DEBUG")
# Several spellings, so that one that the engine does not look for would be seen too.
NEEDLES = {
    "as it is": CANARY,
    "its middle": CANARY[4:20],
    "its end": "7f3a9c5e1b2d",
    "quoted": quote(CANARY, safe=""),
    "quoted for forms": quote_plus(CANARY),
    "as JSON": json.dumps(CANARY)[1:-1],
    "in JSON in JSON": json.dumps(json.dumps(CANARY))[3:-3],
    "in hexadecimal": CANARY.encode().hex(),
    "in Base64": base64.b64encode(CANARY.encode()).decode()[:-4],
}
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{16,}")


class Wire:
    """Records everything that is sent to Redis."""

    def __init__(self, url: str) -> None:
        self.said: list[str] = []
        self._client = redis_client.Redis.from_url(url, socket_timeout=None)
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        assert self._listening.wait(60)

    def _listen(self) -> None:
        with self._client.monitor() as monitor:
            self._listening.set()
            for command in monitor.listen():
                self.said.append(str(command["command"]))
                if "the wire is cut" in self.said[-1]:
                    return

    def close(self) -> None:
        with redis_client.Redis.from_pool(self._client.connection_pool) as client:
            client.echo("the wire is cut")
            self._thread.join(10)


@pytest.fixture(scope="module")
def engine(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with engine_database(django_db_blocker):
        gossip.register()
        yield


@pytest.fixture(scope="module")
def server(engine: None) -> Iterator[Redis]:
    with passable_folder() as home:
        made = Redis(home, durable=False)
        made.start()
        with publishing_to(made.url):
            yield made
        made.stop()


@pytest.fixture(scope="module")
def wire(server: Redis) -> Iterator[Wire]:
    made = Wire(server.url)
    yield made
    made.close()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture(scope="module")
def fleet(
    server: Redis, wire: Wire, collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    extra = QUICK | {
        "VALKYR_EXTRA_MODULES": "tests.support.modules,tests.support.gossip",
        "VALKYR_LOG_LEVEL": "DEBUG",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
    }
    made = Fleet(tmp_path_factory.mktemp("canary"), server.url)
    made.environment |= extra
    try:
        for name, pool, concurrency in (("control", "threads", 2), ("default", "prefork", 1),
                                        ("io", "threads", 4)):  # fmt: skip
            command = [*CELERY, "worker", "-n", f"{name}@%h", "-Q", name, "--pool", pool,
                       "--concurrency", str(concurrency), *FLAGS]  # fmt: skip
            form = "json" if pool == "prefork" else "text"  # both are searched
            made.members[name] = Member(
                made, name, command, VALKYR_POOL=pool, VALKYR_LOG_FORMAT=form
            )
        made.beat()
        made.ensure()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def partner() -> Iterator[Partner]:
    made = Partner()
    yield made
    made.stop()


def document(partner: Partner) -> dict[str, Any]:
    """Return a workflow whose steps send, log, sleep with, fail with and retry with the secret."""
    secret = "{{ secrets.canary }}"
    sends = {
        "method": "POST",
        "url": f"{partner.url}/?in-url={{{{ secrets.plain }}}}",
        "query": {"key": secret},
        "headers": {"X-Key": f"Key {secret}"},
        "json": {"key": secret, "deep": [{"again": f"<{secret}>"}]},
    }
    twice = {"maxAttempts": 2, "baseSeconds": 0.1, "maxSeconds": 0.1}
    gossips = {
        "log": ["log", "tell"],
        "sleep": ["wait", "log"],
        "again": ["again", "log", "tell"],
        "burst": ["raise", "log"],
        "cause": ["cause"],
    }
    return {
        "tasks": [
            task("send", "http.request", **{"with": sends}),
            task(
                "sign",
                "http.request",
                **{"with": {"url": partner.url}, "credential": "account"},
            ),
            task("refused", "http.request", **{"with": sends | {"url": f"{partner.url}/refuse"}}),
            task(
                "unreachable",
                "http.request",
                **{"with": {"url": "http://127.0.0.1:1/{{ secrets.plain }}"}},
                retry="none",
            ),
            *(
                task(
                    name,
                    "test.gossip",
                    **{"with": {"value": secret, "ways": ways}},
                    credential="account",
                    retry=twice,
                )
                for name, ways in gossips.items()
            ),
            task("reads", "data.set", "send", **{"with": {"values": {"all": "{{ tasks.send }}"}}}),
        ],
    }


@pytest.fixture(scope="module")
def over(fleet: Fleet, partner: Partner) -> UUID:
    """Return an execution that ended, was requeued and ended again."""
    home = default_workspace()
    for name, kind, fields in (
        ("canary", "secret", {"value": CANARY}),
        ("plain", "secret", {"value": "7f3a9c5e1b2d"}),
        ("account", "basic", {"username": "somebody", "password": CANARY}),
    ):
        credentials.create(home, name=name, type=kind, fields=fields, hosts=["*"], actor=ACTOR)
    execution = start(publish(document(partner)), {"note": "[secret:canary]"})
    assert wait_for_end([execution], 90)[execution] == "FAILED"
    entry = DeadLetterEntry.objects.get(execution_id=execution, run__step_path="cause.main")
    requeue(entry.pk, actor=ACTOR, reason="once more")
    wait_for_end([execution], 90)
    return execution


def found_in(text: str) -> list[str]:
    """Return the spellings of the canary in a text, including encoded spellings at any offset."""
    found = [what for what, needle in NEEDLES.items() if needle in text]
    for token in set(ENCODED.findall(text)):
        plain = token.translate(str.maketrans("-_", "+/"))
        for offset in range(4):
            part = plain[offset:]
            decoded = base64.b64decode(part[: len(part) // 4 * 4])
            if b"7f3a9c5e1b2d" in decoded or b"c4nary/" in decoded:
                found.append(f"inside the Base64 text {token[:40]}")
    return found


def test_the_needles_find_what_they_are_for() -> None:
    hidden = base64.b64encode(f"somebody:{CANARY}".encode()).decode()

    assert len(found_in(" ".join(NEEDLES.values()))) >= len(NEEDLES)
    assert found_in(f"Basic {hidden}")


def test_the_receiver_alone_got_it(over: UUID, partner: Partner) -> None:
    states = dict(Run.objects.filter(execution_id=over).values_list("step_path", "state"))
    sent = next(one for one in partner.received if one["method"] == "POST" and one["path"] == "/")
    signed = next(one for one in partner.received if "authorization" in one["headers"])

    assert {path for path, state in states.items() if state == "SUCCESS"} == {
        "send.main", "sign.main", "log.main", "sleep.main", "reads.main",
    }  # fmt: skip
    assert sent["query"] == {"in-url": ["7f3a9c5e1b2d"], "key": [CANARY]}
    assert sent["headers"]["x-key"] == f"Key {CANARY}"
    assert json.loads(sent["body"]) == {"key": CANARY, "deep": [{"again": f"<{CANARY}>"}]}
    pair = base64.b64encode(f"somebody:{CANARY}".encode()).decode()
    assert signed["headers"]["authorization"] == f"Basic {pair}"


def test_no_column_of_any_table_holds_it(over: UUID) -> None:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            for (row,) in cursor.fetchall():
                assert found_in(row) == [], f"{table}: {row[:2_000]}"
    stored = Run.objects.get(execution_id=over, step_path="send.main")
    assert "[secret:canary]" in json.dumps(stored.inputs)
    assert "[secret:canary]" in json.dumps(stored.outputs)


def test_redis_was_told_nothing_of_it(over: UUID, wire: Wire) -> None:
    assert any("run_segment" in one for one in wire.said), "something was said at all"
    assert found_in("\n".join(wire.said)) == []


@pytest.mark.parametrize("name", ["control", "default", "io", "beat"])
def test_no_log_holds_it(over: UUID, fleet: Fleet, name: str) -> None:
    log = fleet[name].log.read_text()

    lines = [line for line in log.splitlines() if found_in(line)]

    assert lines == []
    if name == "default":
        assert "heard [secret:" in log, "it was logged, and scrubbed"
    if name == "io":
        assert "HTTP Request: POST" in log, "the HTTP library logs addresses"


def test_no_span_holds_it(over: UUID, collector: Collector) -> None:
    wait_until(lambda: b"burst.main" in collector.raw, 20, "the spans of failing steps")
    texts = json.dumps([[s.facts, s.events, s.name] for s in collector.spans])

    assert "[secret:" in texts, "errors are told of, and scrubbed"
    assert found_in(texts) == []
    assert found_in(collector.raw.decode("latin-1")) == []


@pytest.fixture
def chief(engine: None) -> User:
    return User.objects.get_or_create(
        username="chief", defaults={"is_superuser": True, "is_staff": True}
    )[0]


def ids() -> list[UUID]:
    models = (WorkflowExecution, Run, DeadLetterEntry, Workflow, Credential)
    return [pk for model in models for pk in model.objects.values_list("pk", flat=True)]


def routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def test_no_answer_of_the_api_holds_it(over: UUID, chief: User) -> None:
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(chief)
    texts = {}
    for route in routes(get_resolver().url_patterns):
        if not route.startswith("v1/") or "<str" in route or "<slug" in route:
            continue
        for pk in ids() if "<uuid" in route else [None]:
            path = "/" + re.sub(r"<uuid:\w+>", str(pk), re.sub(r"<int:\w+>", "1", route))
            asked = [client.get(path)]
            if path.endswith("/reveal"):
                asked.append(client.post(path, {"reason": "looking"}, format="json"))
            for answer in asked:
                texts[path, answer.status_code] = answer.getvalue().decode()

    assert {path: found_in(text) for path, text in texts.items() if found_in(text)} == {}
    answered = {path.split("/")[2] for path, status in texts if status == 200}
    assert answered >= {"WorkflowExecution", "Run", "DeadLetterQueue", "Activity", "Credential"}
    revealed = [path for path, status in texts if path.endswith("/reveal") and status == 200]
    assert len(revealed) > 5


def test_no_page_of_the_admin_holds_it(over: UUID, chief: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(chief)
    pages: dict[str, str] = {}
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        keys = model._default_manager.values_list("pk", flat=True)[:30]
        paths = [reverse(f"{name}_changelist")]
        paths += [reverse(f"{name}_change", args=[key]) for key in keys]
        for path in paths:
            answer = client.get(path, follow=True)
            pages[path] = answer.getvalue().decode() if answer.status_code == 200 else ""

    assert {path: found_in(text) for path, text in pages.items() if found_in(text)} == {}
    run = Run.objects.get(execution_id=over, step_path="send.main")
    assert pages[reverse("admin:runners_run_change", args=[run.pk])]
    assert sum(bool(text) for text in pages.values()) > 40


def test_the_logs_are_those_of_this_run(fleet: Fleet) -> None:
    assert all(Path(member.log).stat().st_size for member in fleet.members.values())
