"""Attacks on a live stack, over HTTP, with the attacker's rights.

The stack is started as by `make up`. Each attack succeeded on an earlier version. The tests check
the attacker's goals: a credential reaches another address, other users have to wait, a process
grows.
"""

import http.server
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.pages import sign_in
from tests.support.prepared_home import prepared_home
from tests.support.stack import Stack
from tests.support.static_files import collected
from tests.support.waiting import wait_until

HERE = "127.0.0.77"  # addresses that steps of this stack may reach
SECRET = "canary-77af01"
ENDED = {"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"}
MIB = 1024 * 1024
GROWTH = 256 * MIB
NUMBERS = itertools.count()
WEB, WORKERS = "valkyr_project.http.server", "celery_command worker"
# CPU seconds that the web process may use between a health request and its answer, whatever other
# requests it gets. A busy machine adds nothing to them.
UNNOTICED = 0.5
# The CPU seconds that the steps of these tests may use in their worker.
STEP = 5
AT_ONCE = 4  # attacks of a kind: more of them share the CPU with the health check
LOOKS = 20  # minimum number of health checks of the web process


class Partner:
    """An HTTP server that stores its requests."""

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
                """Write no log lines."""

        self._server = http.server.ThreadingHTTPServer((HERE, 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://{HERE}:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Person:
    """A client with a token that calls the stack."""

    def __init__(self, stack: Stack, token: str) -> None:
        self.client = httpx.Client(
            base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=90
        )

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.client.post(path, json=body)

    def get(self, path: str) -> Any:
        return self.client.get(path).raise_for_status().json()

    def published(self, definition: Mapping[str, Any]) -> str:
        """Import and publish a workflow; return its id."""
        made = self.post("/v1/Workflow", {"name": definition["name"], "definition": definition})
        assert made.status_code == 201, made.text
        done = self.post(f"/v1/Workflow/{made.json()['id']}/publish", {})
        assert done.is_success, done.text
        return str(made.json()["id"])

    def executed(self, workflow: str, params: Any = None) -> str:
        done = self.post(f"/v1/WorkflowExecution/{workflow}/execute", {"params": params or {}})
        assert done.status_code == 202, done.text
        return str(done.json()["id"])

    def decide(self, execution: str, decision: str) -> None:
        """Wait for an execution's approval, and decide on it."""
        asking = f"/v1/Run?executionId={execution}&state=WAITING"
        wait_until(lambda: self.get(asking), 60, f"the approval of {execution}")
        [run] = self.get(asking)
        done = self.post(f"/v1/Run/{run['id']}/decide", {"decision": decision})
        assert done.is_success, done.text

    def end_of(self, execution: str, seconds: float = 120) -> Any:
        """Wait for the end of an execution, and return it."""
        found: dict[str, Any] = {}

        def ended() -> bool:
            found.update(self.get(f"/v1/WorkflowExecution/{execution}"))
            return found["state"] in ENDED

        wait_until(ended, seconds, f"the end of execution {execution}")
        return found


@pytest.fixture(scope="module")
def stack(pytestconfig: pytest.Config) -> Iterator[Stack]:
    with prepared_home(pytestconfig) as home, Stack(home, collected()) as up:
        up.wait_ready(300)
        yield up


@pytest.fixture(scope="module")
def admin(stack: Stack) -> Person:
    return Person(stack, sign_in(stack))


def holder(stack: Stack, admin: Person, name: str, *scopes: str, **owner: str) -> Person:
    """Return the holder of a new token with these scopes, by default the administrator's."""
    made = admin.post("/v1/ApiToken", {"name": name, "scopes": scopes, **owner})
    assert made.status_code == 201, made.text
    return Person(stack, made.json()["token"])


@pytest.fixture(scope="module")
def program(stack: Stack, admin: Person) -> Person:
    """Return the holder of a token that docs/reference/api.md recommends for programs: it may only
    trigger.
    """
    account = admin.post("/v1/ServiceAccount", {"name": "shop"}).json()
    return holder(stack, admin, "shop", "trigger", serviceAccountId=account["id"])


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


def processes(stack: Stack, words: str) -> Iterator[psutil.Process]:
    """Yield the stack's processes with that command line."""
    for process in stack.family():
        with suppress(psutil.NoSuchProcess):
            if words in " ".join(process.cmdline()):
                yield process


def memory(stack: Stack, words: str) -> dict[int, int]:
    """Return the peak resident size of the processes with that command line, by pid."""
    found = {}
    for process in processes(stack, words):
        with suppress(FileNotFoundError, ValueError):
            status = Path(f"/proc/{process.pid}/status").read_text()
            found[process.pid] = 1024 * int(status.partition("VmHWM:")[2].split()[0])
    return found


def processor_seconds(found: list[psutil.Process]) -> float:
    """Return the CPU seconds of these processes so far."""
    return sum(sum(process.cpu_times()[:2]) for process in found)


def while_healthy(
    stack: Stack, admin: Person, attack: Callable[[], httpx.Response], at_once: int = AT_ONCE
) -> list[httpx.Response]:
    """Repeat an attack while health checks continue; return the answers."""
    web = list(processes(stack, WEB))
    answers: list[httpx.Response] = []
    looks: list[float] = []
    enough = threading.Event()

    def repeated() -> None:
        while not enough.is_set():
            answers.append(attack())

    with ThreadPoolExecutor(at_once) as pool:
        asking = [pool.submit(repeated) for _ in range(at_once)]
        try:
            while len(looks) < LOOKS or len(answers) < at_once:
                before = processor_seconds(web)
                assert admin.client.get("/actuator/health/live").status_code == 200
                looks.append(processor_seconds(web) - before)
                assert not any(one.done() for one in asking), [one.result() for one in asking]
        finally:
            enough.set()
    assert max(looks) < UNNOTICED, looks
    return answers


ASK_PAY: list[dict[str, Any]] = [
    {"id": "ask", "use": "flow.approval", "with": {"title": "Pay {{ input.euros }}?"}},
    {
        "id": "pay",
        "use": "http.request",
        "after": "ask:approved",
        "credential": "bank",
        "with": {"method": "POST", "url": "{{ input.url }}", "json": "{{ input }}"},
    },
]
PAYMENT = {"schema": "valkyr/1", "name": "payment", "tasks": ASK_PAY}


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


def test_an_approved_payment_lets_no_other_one_out(
    stack: Stack, admin: Person, program: Person, partner: Partner, attacker: Partner
) -> None:
    made = admin.post(
        "/v1/Credential",
        {"name": "purse", "type": "bearer", "fields": {"token": SECRET}, "hosts": ["*"]},
    )
    assert made.status_code == 201, made.text
    tasks = [task | ({"credential": "purse"} if "credential" in task else {}) for task in ASK_PAY]
    workflow = admin.published(PAYMENT | {"name": "approved payment", "tasks": tasks})
    origin = program.executed(workflow, {"euros": 1, "url": partner.url})
    admin.decide(origin, "approved")
    assert admin.end_of(origin)["state"] == "SUCCESS"
    operator = holder(stack, admin, "operator", "trigger", "operate", "view")
    fork = f"/v1/WorkflowExecution/{origin}/fork"
    dear = {"input": {"euros": 9_999, "url": attacker.url}}
    elsewhere = {"steps": {"pay.main": {"url": attacker.url}}}

    refused = [
        who.post(fork, {"stepPath": "pay.main", "overrides": overrides})
        for who, overrides in ((program, dear), (program, elsewhere), (operator, elsewhere))
    ]
    behind = operator.post(fork, {"stepPath": "pay.main"})
    again = program.post(f"/v1/WorkflowExecution/{origin}/replay", {})
    anew = program.post(fork, {"overrides": dear})

    assert [answer.status_code for answer in refused] == [403, 403, 403]
    assert [answer.status_code for answer in (behind, again, anew)] == [202, 202, 202]
    for answer in (behind, again, anew):
        admin.decide(answer.json()["id"], "rejected")
        admin.end_of(answer.json()["id"])
    assert len(partner.seen) == 1
    assert attacker.seen == []


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


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema that checks a value 2^levels times."""
    parts: dict[str, Any] = {
        f"p{n}": {"allOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(levels)
    }
    return {"$ref": "#/$defs/p0", "$defs": parts | {f"p{levels}": {"required": ["b"]}}}


MIXED = [[n] if n % 2 else {"n": n} for n in range(2_500)]


def checked(admin: Person, schema: dict[str, Any]) -> str:
    """Publish a workflow whose input has that schema; return the path for starts."""
    tasks = [{"id": "a", "use": "flow.noop"}]
    name = f"checked-{next(NUMBERS)}"
    definition = {"schema": "valkyr/1", "name": name, "input": schema, "tasks": tasks}
    return f"/v1/WorkflowExecution/{admin.published(definition)}"


@pytest.mark.parametrize(
    ("schema", "payload", "status"),
    [
        (
            {"properties": {"a": {"pattern": r"^([a-zA-Z0-9_.-]+)*@example\.com$"}}},
            {"a": "a" * 40},
            422,
        ),
        (doubling(40), {"b": 1}, 422),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": MIXED}, 202),
    ],
    ids=["pattern", "references", "unique"],
)
def test_no_payload_stops_the_web_process(
    stack: Stack,
    admin: Person,
    program: Person,
    schema: dict[str, Any],
    payload: dict[str, Any],
    status: int,
) -> None:
    address = f"{checked(admin, schema)}/execute"

    answers = while_healthy(stack, admin, lambda: program.post(address, {"params": payload}))

    assert {answer.status_code for answer in answers} == {status}


def test_no_batch_of_costly_payloads_stops_the_web_process(
    stack: Stack, admin: Person, program: Person
) -> None:
    address = f"{checked(admin, doubling(10))}/execute-batch"
    payloads = [{"b": n} for n in range(40)]

    answers = while_healthy(
        stack, admin, lambda: program.post(address, {"payloads": payloads}), at_once=2
    )

    # All or none: started, or rejected for their total cost.
    assert {answer.status_code for answer in answers} <= {202, 422}


def test_no_filters_of_an_event_stop_the_web_process(
    stack: Stack, admin: Person, program: Person
) -> None:
    teller = holder(stack, admin, "teller", "tell")
    for number, text in enumerate([*GREEDY, *[COSTLY] * 6]):
        admin.published(
            {
                "schema": "valkyr/1",
                "name": f"listening-{number}",
                "triggers": [
                    {"type": "EVENT", "event": "told", "filter": f"{{{{ ({text}) and event }}}}"}
                ],
                "tasks": [{"id": "a", "use": "flow.noop"}],
            }
        )

    told = {"name": "told", "payload": {"a": 1}}
    answers = while_healthy(stack, admin, lambda: teller.post("/v1/Event", told))

    for answer in answers:
        assert answer.status_code == 202, answer.text
        assert answer.json()["executions"] == []
        assert {one["code"] for one in answer.json()["refused"]} == {"filter_failed"}


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


def test_a_step_that_computes_runs_in_no_process_of_others(admin: Person) -> None:
    schema = {"properties": {"a": {"pattern": r"^([a-zA-Z0-9_.-]+)*@example\.com$"}}}
    check = {"id": "check", "use": "data.validate", "with": {"data": "{{ input }}"}}
    check["with"]["schema"] = schema
    definition = {"schema": "valkyr/1", "name": "validates", "tasks": [check | {"queue": "io"}]}
    made = admin.post("/v1/Workflow", {"name": "validates", "definition": definition})
    assert made.status_code == 201, made.text

    told = admin.post("/v1/Workflow/validate", {"definition": definition}).json()
    refused = admin.post(f"/v1/Workflow/{made.json()['id']}/publish", {})
    elsewhere = admin.published(definition | {"name": "validates apart", "tasks": [check]})

    assert ("tasks[0].queue", "computes") in {
        (one["path"], one["code"]) for one in told["problems"]
    }
    assert refused.status_code == 422, refused.text
    end = admin.end_of(admin.executed(elsewhere, {"a": "a" * 40}))
    [run] = admin.get(f"/v1/Run?executionId={end['id']}")
    assert (end["state"], run["runnerId"].partition("@")[0]) == ("FAILED", "default"), run
    assert "does not match" in run["error"]


NESTED = "[[[['a'] * 100] * 100] * 100] * 100"
GREEDY = [
    f"{NESTED} == {NESTED}",
    '"%(a)1500000000s" % {"a": 1}',
    r'"\t".expandtabs(tabsize=2000000000)',
    '(["a" * 1000000] * 100000) | tojson',
    '("%s" * 100000) % (range(100000) | list)',
    "('a' * 1000000).rsplit('ab' + 'a' * 400000)",
]
# Uses up a worker's whole budget of work, in small pieces: a CPU second.
COSTLY = "([range(20000) | list] * 300) | map('max') | sum"


def caller(name: str, url: str, body: str, seconds: int = STEP) -> dict[str, Any]:
    """Return a workflow of one HTTP step, which posts that body."""
    inputs = {"url": url, "method": "POST", "body": body}
    call = {"id": "call", "use": "http.request", "timeoutSeconds": seconds, "with": inputs}
    return {"schema": "valkyr/1", "name": name, "tasks": [call]}


def finished(execution: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(execution["finishedAt"])


def test_no_template_stops_a_worker_or_fills_a_process(
    stack: Stack, admin: Person, partner: Partner
) -> None:
    before = memory(stack, "worker") | memory(stack, WEB)
    io = list(processes(stack, f"{WORKERS} -n io@"))
    bystander = admin.published(caller("bystander", partner.url, "x"))
    hostile = []
    waited = []

    for number, text in enumerate(GREEDY):
        greedy = admin.published(caller(f"greedy-{number}", partner.url, f"{{{{ {text} }}}}"))
        used = processor_seconds(io)
        hostile.append(admin.executed(greedy))
        assert admin.end_of(admin.executed(bystander))["state"] == "SUCCESS"
        waited.append(processor_seconds(io) - used)

    assert max(waited) < STEP, waited
    assert {admin.end_of(execution)["state"] for execution in hostile} == {"FAILED"}
    for execution in hostile:
        admin.post(f"/v1/WorkflowExecution/{execution}/replay", {"verify": True})
    after = memory(stack, "worker") | memory(stack, WEB)
    assert {pid: after[pid] - before[pid] for pid in before if pid in after}.keys() == before.keys()
    assert all(after[pid] - before[pid] < GROWTH for pid in before), (before, after)


def test_a_step_ends_while_templates_beside_it_use_up_their_budgets(
    admin: Person, partner: Partner
) -> None:
    bystander = admin.published(caller("passer-by", partner.url, "x", 60))
    costly = admin.published(caller("costly", partner.url, f"{{{{ {COSTLY} }}}}", 60))

    hostile = [admin.executed(costly) for _ in range(AT_ONCE)]
    innocent = admin.executed(bystander)

    assert admin.end_of(innocent)["state"] == "SUCCESS"
    ends = [admin.end_of(execution) for execution in hostile]
    assert {end["state"] for end in ends} == {"FAILED"}
    assert finished(admin.end_of(innocent)) < max(finished(end) for end in ends)
