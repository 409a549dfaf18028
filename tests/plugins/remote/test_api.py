"""Tests of the API of remote runners: lease, heartbeat, complete, fail."""

import time
from collections.abc import Callable
from datetime import timedelta
from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from executions import credentials, lifecycle
from executions.access import TokenLimits
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import (
    Activity,
    Credential,
    CredentialUse,
    WorkflowExecution,
    Workspace,
)
from executions.sealing import payload_keys
from runners.models import Run, Runner
from runners.planning import plan_execution
from runners.recovery.sweeper import old_rows
from tests.contract.people import a_member, an_author
from tests.support.preparing import prepare_remote_runs
from valkyr_plugins.remote import leasing

from .leasing import ASK, begun, film, lease, one_film, render, report, tell

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")
LEASED = {
    "id", "executionId", "taskId", "execModuleId", "stepPath", "module", "attempt", "state",
    "leaseUntil", "leasedBy", "runnerId", "idempotencyKey", "inputsHash", "configHash", "queuedAt",
    "startedAt", "finishedAt", "heartbeatAt", "outcome", "error", "errorType", "retryAfter",
    "durationMs", "costTokens", "waitsFor", "cachedFrom", "superseded", "inputs", "credential",
    "crashes", "crashCause", "suspect", "leaseToken", "timeoutSeconds", "lastDetails",
    "targetTimeoutSeconds", "traceparent",
}  # fmt: skip
ENDS = ("complete", "fail")


@pytest.fixture
def runner(member: Callable[..., Any], client_of: Callable[[Any], APIClient]) -> APIClient:
    """Return the client of a remote runner's account."""
    return client_of(member("SYSTEM"))


@pytest.fixture
def begin(author: APIClient) -> Callable[..., str]:
    """Return a function that publishes and starts a workflow of these tasks and returns the
    execution's id.
    """

    def begins(*tasks: dict[str, Any], params: Any = None, **more: Any) -> str:
        return begun(author, film(author, *tasks, **more), params)

    return begins


@pytest.fixture(scope="module", autouse=True)
def workflow(kept_world: None) -> str:
    """Publish a workflow of one remote step; return its id."""
    a_member("SYSTEM")
    return one_film(an_author())


@pytest.fixture
def execution(author: APIClient, workflow: str) -> str:
    return begun(author, workflow, {"scene": 3})


def test_a_leased_run_comes_with_everything_it_needs(runner: APIClient, execution: str) -> None:
    [run] = lease(runner)

    assert set(run) == LEASED
    assert (run["state"], run["startedAt"], run["executionId"]) == ("LEASED", None, execution)
    assert run["inputs"] == {"handler": "render", "scene": 3}
    assert (run["timeoutSeconds"], run["credential"], run["lastDetails"]) == (60, None, None)
    assert len(run["idempotencyKey"]) == 64
    assert run["leasedBy"] == run["runnerId"] == "default/box-1"
    assert lease(runner) == []


def test_who_asked_is_listed_in_its_workspace(runner: APIClient, workspace: Workspace) -> None:
    lease(runner)
    lease(runner, queues=["gpu", "remote"])

    row = Runner.objects.get(name="default/box-1")
    assert (row.workspace_id, row.pool, row.host) == (workspace.pk, "remote", "127.0.0.1")
    assert row.queues == ["gpu", "remote"]


def test_who_was_not_seen_for_a_day_is_forgotten(runner: APIClient) -> None:
    lease(runner)
    lease(runner, runnerId="box-2")
    Runner.objects.create(name="default@pod-1", host="pod-1", pid=1, pool="prefork")
    live = Runner.objects.create(name="default@pod-2", host="pod-2", pid=1, pool="prefork")
    long_ago = database_now() - timedelta(days=2)
    Runner.objects.exclude(name__in=["default/box-2", live.name]).update(seen_at=long_ago)

    assert old_rows.silent_runners() == 2

    assert {row.name for row in Runner.objects.all()} == {"default/box-2", live.name}


def test_where_too_many_wait_the_next_is_answered_at_once(
    runner: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = BoundedSemaphore(1)
    taken.acquire()
    monkeypatch.setattr(leasing, "_seats", lambda: taken)
    began = time.monotonic()

    assert lease(runner, waitSeconds=20) == []

    assert time.monotonic() - began < 5


def test_the_first_heartbeat_begins_the_run_and_every_one_renews_it(
    runner: APIClient, execution: str
) -> None:
    [run] = lease(runner)

    first = tell(runner, run, "heartbeat", details={"frame": 1})
    second = tell(runner, run, "heartbeat")

    assert first.status_code == second.status_code == 200
    assert set(first.json()) == {"leaseUntil", "wanted"}
    assert first.json()["wanted"] is second.json()["wanted"] is True
    assert run["leaseUntil"] < first.json()["leaseUntil"] < second.json()["leaseUntil"]
    row = Run.objects.get(pk=run["id"])
    assert (row.state, row.heartbeat_details) == ("RUNNING", {"frame": 1})
    assert row.started_at is not None


@pytest.mark.parametrize("beats", [0, 1])
def test_a_completed_run_lets_its_execution_go_on(
    runner: APIClient, author: APIClient, execution: str, beats: int
) -> None:
    [run] = lease(runner)
    for _ in range(beats):
        tell(runner, run, "heartbeat")

    answer = tell(runner, run, "complete", costs=[{"tokens": 12}])

    assert answer.status_code == 200, answer.content
    shown = author.get(f"/v1/Run/{run['id']}").json()
    assert (shown["state"], shown["outputs"]) == ("SUCCESS", {"frames": 7})
    assert (shown["outcome"], shown["costTokens"]) == ("success", 12)
    assert shown["durationMs"] > 0
    assert shown["startedAt"] is not None
    plan_execution.advance(UUID(execution))  # a worker renders the output
    ended = author.get(f"/v1/WorkflowExecution/{execution}").json()
    assert (ended["state"], ended["output"]) == ("SUCCESS", {"frames": 7})


@pytest.mark.parametrize("verb", ENDS)
def test_what_a_runner_spent_is_written_down_by_model(
    runner: APIClient, author: APIClient, execution: str, verb: str
) -> None:
    [run] = lease(runner)
    costs = [
        {"model": "m-1", "inputTokens": 40, "outputTokens": 2, "amount": "0.015", "currency": ""},
        {"model": "m-1", "inputTokens": 8, "amount": 0.005},
        {"tokens": 7, "amount": "1", "currency": "JPY"},
        {},
    ]

    answers = [
        tell(runner, run, verb, costs=costs) for _ in range(2)
    ]  # the second: its answer lost

    assert [answer.status_code for answer in answers] == [200, 200]
    found = author.get("/v1/CostEntry").json()
    assert sorted(
        (one["model"], one["currency"], one["tokens"], one["inputTokens"], float(one["amount"]))
        for one in found
        if one["tokens"]
    ) == [("", "JPY", 7, 0, 1.0), ("m-1", "USD", 50, 48, 0.02)]
    assert answers[0].json()["costTokens"] == 57


def test_a_runner_that_may_not_see_payloads_is_not_shown_them_afterwards(
    runner: APIClient, execution: str
) -> None:
    [run] = lease(runner)

    assert "$hidden" in tell(runner, run, "complete").json()["outputs"]


@pytest.mark.parametrize("beats", [0, 1])
def test_a_run_that_failed_for_good_is_a_dead_letter(
    runner: APIClient, author: APIClient, execution: str, beats: int
) -> None:
    [run] = lease(runner)
    for _ in range(beats):
        tell(runner, run, "heartbeat")

    answer = tell(runner, run, "fail")

    assert answer.status_code == 200, answer.content
    assert (answer.json()["state"], answer.json()["errorType"]) == ("DLQ", "PERMANENT")
    [listed] = author.get("/v1/DeadLetterQueue").json()
    letter = author.get(f"/v1/DeadLetterQueue/{listed['id']}").json()
    assert letter["failureReason"].endswith("the disk is full")
    assert letter["originalInputs"] == {"handler": "render", "scene": 3}
    assert author.get(f"/v1/WorkflowExecution/{execution}").json()["state"] == "FAILED"


def test_a_passing_failure_is_tried_again_with_the_same_key_and_what_was_told(
    runner: APIClient, execution: str
) -> None:
    [run] = lease(runner)
    tell(runner, run, "heartbeat", details={"frame": 5})

    answer = tell(runner, run, "fail", errorType="TRANSIENT", retryAfter=600)

    assert answer.json()["state"] == "FAILED"
    retry = Run.objects.get(execution_id=execution, attempt=2)
    assert retry.state == "PENDING"
    assert retry.retry_after is not None
    assert retry.retry_after > database_now() + timedelta(seconds=590)
    assert lease(runner) == []
    Run.objects.filter(pk=retry.pk).update(retry_after=database_now())
    [again] = lease(runner)
    assert (again["attempt"], again["lastDetails"]) == (2, {"frame": 5})
    assert again["idempotencyKey"] == run["idempotencyKey"]
    assert again["leaseToken"] != run["leaseToken"]


@pytest.mark.parametrize("verb", ENDS)
def test_the_same_report_again_is_answered_alike(
    runner: APIClient, execution: str, verb: str
) -> None:
    [run] = lease(runner)

    first, again = tell(runner, run, verb), tell(runner, run, verb)

    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()


@pytest.mark.parametrize(
    ("verb", "other", "more"),
    [
        ("complete", "complete", {"outputs": 8}),
        ("complete", "fail", {}),
        ("complete", "heartbeat", {}),
        ("fail", "fail", {"error": "something else"}),
        ("fail", "fail", {"errorType": "TIMEOUT"}),
        ("fail", "complete", {}),
        ("fail", "heartbeat", {}),
    ],
)
def test_another_report_after_the_end_is_refused(
    runner: APIClient, execution: str, verb: str, other: str, more: dict[str, Any]
) -> None:
    [run] = lease(runner)
    ended = tell(runner, run, verb).json()

    late = tell(runner, run, other, **more)

    assert late.status_code == 409
    assert late.json()["code"] == "lease_lost"
    assert late.json()["state"] == ended["state"]
    assert Run.objects.get(pk=run["id"]).state == ended["state"]


def test_who_never_leased_a_run_learns_nothing_of_its_step(
    runner: APIClient, execution: str
) -> None:
    run = Run.objects.get(execution_id=execution)
    outcome = report("complete", "made up") | {"outcome": "nonsense"}

    answer = runner.post(f"/v1/Run/{run.pk}/complete", outcome, format="json")

    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    assert "render" not in answer.content.decode()


@pytest.mark.parametrize("verb", ["heartbeat", *ENDS])
@pytest.mark.parametrize("token", ["", "x", "1", "é", "other"])
def test_a_token_that_is_not_the_runs_own_does_nothing(
    runner: APIClient, begin: Callable[..., str], verb: str, token: str
) -> None:
    begin(render(), render(id="sound"), params={"scene": 1})
    run, other = lease(runner, limit=2)
    given = other["leaseToken"] if token == "other" else token

    answer = tell(runner, run, verb, leaseToken=given)

    assert answer.status_code == (409 if token else 422), answer.content
    assert Run.objects.get(pk=run["id"]).state == "LEASED"


@pytest.mark.parametrize("verb", ["heartbeat", *ENDS])
def test_a_lease_that_ran_out_is_lost_even_if_nobody_has_the_run(
    runner: APIClient, execution: str, verb: str
) -> None:
    [run] = lease(runner)
    Run.objects.filter(pk=run["id"]).update(lease_until=database_now() - timedelta(seconds=1))

    answer = tell(runner, run, verb)

    assert answer.status_code == 409
    assert answer.json()["code"] == "lease_lost"
    assert Run.objects.get(pk=run["id"]).state == "LEASED"


@pytest.mark.parametrize("verb", ["heartbeat", *ENDS])
@pytest.mark.parametrize("state", ["PENDING", "SUCCESS", "SKIPPED", "WAITING"])
def test_a_run_that_nobody_leased_takes_no_report(
    runner: APIClient, execution: str, verb: str, state: str
) -> None:
    [run] = lease(runner)
    over = {"SUCCESS", "SKIPPED"}
    Run.objects.filter(pk=run["id"]).update(
        state=state, finished_at=database_now() if state in over else None
    )

    answer = tell(runner, run, verb)

    assert answer.status_code == 409
    assert (answer.json()["code"], answer.json()["state"]) == ("lease_lost", state)


def test_a_cancelled_run_is_not_wanted_any_more(runner: APIClient, execution: str) -> None:
    [run] = lease(runner)
    lifecycle.cancel(WorkflowExecution(pk=execution).pk, actor=ANN)

    beat = tell(runner, run, "heartbeat")

    assert beat.status_code == 200
    assert beat.json() == {"leaseUntil": None, "wanted": False}
    assert {tell(runner, run, verb).status_code for verb in ENDS} == {409}


def test_a_quarantined_run_is_lost(runner: APIClient, author: APIClient, execution: str) -> None:
    [run] = lease(runner)
    author.post(f"/v1/Run/{run['id']}/quarantine", {"reason": "poison"}, format="json")

    assert {tell(runner, run, verb).status_code for verb in ("heartbeat", *ENDS)} == {409}


def test_outputs_that_cannot_be_stored_leave_the_run_in_the_runners_hands(
    runner: APIClient, execution: str, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024 * 1024
    [run] = lease(runner)

    large = tell(runner, run, "complete", outputs="x" * (6 * 1024 * 1024))
    odd = tell(runner, run, "complete", outcome="maybe")

    assert large.status_code == odd.status_code == 422
    assert "render.main" in large.json()["detail"]
    assert odd.json()["code"] == "undeclared_outcome"
    assert "maybe" in odd.json()["detail"]
    assert Run.objects.get(pk=run["id"]).state == "LEASED"
    assert tell(runner, run, "complete").status_code == 200


def test_details_past_their_size_are_refused(runner: APIClient, execution: str) -> None:
    [run] = lease(runner)

    answer = tell(runner, run, "heartbeat", details="x" * 70_000)

    assert answer.status_code == 422
    assert "details of the heartbeat" in answer.json()["detail"]


def test_a_step_that_decides_ends_with_what_it_declares(
    runner: APIClient, begin: Callable[..., str]
) -> None:
    judge = render(inputs={"outcomes": ["good", "bad"]})
    nice = {"id": "nice", "use": "remote.step", "queue": "gpu", "with": {"handler": "nice"}}
    execution = begin(judge, nice | {"after": "render:good"}, params={"scene": 1})
    [run] = lease(runner)

    assert tell(runner, run, "complete", outcome="good").status_code == 200

    [following] = lease(runner)
    assert (following["executionId"], following["stepPath"]) == (execution, "nice.main")


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("lease", {"runnerId": "", "queues": ["gpu"]}, "runnerId"),
    ("lease", {"runnerId": "a|b", "queues": ["gpu"]}, "runnerId"),
    ("lease", {"runnerId": "a/b", "queues": ["gpu"]}, "runnerId"),
    ("lease", {"runnerId": "x" * 101, "queues": ["gpu"]}, "runnerId"),
    ("lease", {"runnerId": 5, "queues": ["gpu"]}, "runnerId"),
    ("lease", {"queues": ["gpu"]}, "runnerId"),
    ("lease", {"runnerId": "r"}, "queues"),
    ("lease", {"runnerId": "r", "queues": []}, "queues"),
    ("lease", {"runnerId": "r", "queues": "gpu"}, "queues"),
    ("lease", {"runnerId": "r", "queues": ["gpu"] * 21}, "queues"),
    ("lease", {"runnerId": "r", "queues": [["gpu"]]}, "queues[0]"),
    ("lease", {"runnerId": "r", "queues": ["gpu", "default"]}, "queues[1]"),
    ("lease", {"runnerId": "r", "queues": ["nobody's"]}, "queues[0]"),
    ("lease", {**ASK, "limit": 0}, "limit"),
    ("lease", {**ASK, "limit": 101}, "limit"),
    ("lease", {**ASK, "limit": "5"}, "limit"),
    ("lease", {**ASK, "waitSeconds": 21}, "waitSeconds"),
    ("lease", {**ASK, "waitSeconds": -1}, "waitSeconds"),
    ("lease", {**ASK, "wait": 1}, "wait"),
    ("heartbeat", {}, "leaseToken"),
    ("heartbeat", {"leaseToken": 1}, "leaseToken"),
    ("heartbeat", {"leaseToken": "x" * 201}, "leaseToken"),
    ("complete", {"leaseToken": "x"}, "outputs"),
    ("complete", {"leaseToken": "x", "outputs": 1, "outcome": None}, "outcome"),
    ("complete", {"leaseToken": "x", "outputs": 1, "costTokens": 1}, "costTokens"),
    ("complete", {"leaseToken": "x", "outputs": 1, "variables": {}}, "variables"),
    *[
        (verb, {**report(verb, "x"), "costs": costs}, path)
        for verb in ("complete", "fail")
        for costs, path in [
            (5, "costs"),
            ([5], "costs[0]"),
            ([{}] * 51, "costs"),
            ([{}, {"tokens": -1}], "costs[1].tokens"),
            ([{"tokens": 2**63}], "costs[0].tokens"),
            ([{"inputTokens": 1.5}], "costs[0].inputTokens"),
            ([{"outputTokens": 2**63}], "costs[0].outputTokens"),
            ([{"amount": "-1"}], "costs[0].amount"),
            ([{"amount": "NaN"}], "costs[0].amount"),
            ([{"amount": "1e99"}], "costs[0].amount"),
            ([{"amount": True}], "costs[0].amount"),
            ([{"amount": "0.000000001"}], "costs[0].amount"),
            ([{"currency": "eur"}], "costs[0].currency"),
            ([{"currency": "EURO"}], "costs[0].currency"),
            ([{"model": "m" * 201}], "costs[0].model"),
            ([{"colour": 1}], "costs[0].colour"),
        ]
    ],
    ("fail", {"leaseToken": "x", "errorType": "PERMANENT"}, "error"),
    ("fail", {"leaseToken": "x", "error": "", "errorType": "PERMANENT"}, "error"),
    ("fail", {"leaseToken": "x", "error": "x"}, "errorType"),
    ("fail", {"leaseToken": "x", "error": "x", "errorType": "CIRCUIT_OPEN"}, "errorType"),
    ("fail", {**report("fail", "x"), "retryAfter": -1}, "retryAfter"),
    ("fail", {**report("fail", "x"), "retryAfter": 86_401}, "retryAfter"),
    ("fail", {**report("fail", "x"), "retryAfter": "5"}, "retryAfter"),
]


@pytest.mark.parametrize(("verb", "body", "path"), BAD)
def test_bad_input_is_named_and_changes_nothing(
    runner: APIClient, execution: str, verb: str, body: dict[str, Any], path: str
) -> None:
    run = Run.objects.get(execution_id=execution)
    address = "/v1/Run/lease" if verb == "lease" else f"/v1/Run/{run.pk}/{verb}"

    answer = runner.post(address, body, format="json")

    assert answer.status_code == 422, answer.content
    assert path in [error["path"] for error in answer.json()["errors"]]
    run.refresh_from_db()
    assert (run.state, run.lease_token) == ("PENDING", 0)


@pytest.mark.parametrize("verb", ["heartbeat", *ENDS])
def test_a_run_of_another_workspace_is_not_known(
    runner: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
    execution: str,
    verb: str,
) -> None:
    stranger = client_of(member("SYSTEM", elsewhere))
    assert lease(stranger) == []
    [run] = lease(runner)

    assert tell(stranger, run, verb).status_code == 404
    assert Run.objects.get(pk=run["id"]).state == "LEASED"


@pytest.mark.parametrize("role", ["WORKFLOW", "USER"])
def test_who_may_not_run_leases_nothing(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], execution: str, role: str
) -> None:
    client = client_of(member(role, name="another"))

    assert client.post("/v1/Run/lease", ASK, format="json").status_code == 403


@pytest.mark.parametrize(("scopes", "status"), [({"run"}, 200), ({"view", "trigger"}, 403)])
def test_a_token_needs_the_scope(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    workspace: Workspace,
    execution: str,
    scopes: set[str],
    status: int,
) -> None:
    user = member("ADMIN")
    user.token_limits = TokenLimits(workspace.pk, frozenset(scopes))

    assert client_of(user).post("/v1/Run/lease", ASK, format="json").status_code == status


def test_nobody_leases_unasked(stranger: APIClient, execution: str) -> None:
    assert stranger.post("/v1/Run/lease", ASK, format="json").status_code == 401


def test_a_step_gets_its_secrets_and_no_row_does(
    runner: APIClient, begin: Callable[..., str], workspace: Workspace
) -> None:
    credentials.create(
        workspace,
        name="farm",
        type="secret",
        fields={"value": "canary-7261"},
        actor=ANN,
        hosts=["farm.example.com"],
        remote=True,
    )
    begin(render(inputs={"key": "{{ secrets.farm }}"}), params={"scene": 1})

    [run] = lease(runner)
    assert run["inputs"]["key"] == "canary-7261"
    trail = Activity.objects.get(action="run.lease")
    assert (trail.object_id, trail.actor_name) == (run["id"], "system-default")
    assert trail.details["secrets"] == ["farm"]
    told = tell(runner, run, "heartbeat", details={"with": "canary-7261"})
    done = tell(runner, run, "complete", outputs={"said": "I used canary-7261"})

    assert told.status_code == done.status_code == 200, done.content
    row = Run.objects.get(pk=run["id"])
    assert row.outputs == {"said": "I used [secret:farm]"}
    with connection.cursor() as cursor:
        cursor.execute("SELECT r::text FROM runners_run r WHERE r.id = %s", [run["id"]])
        assert "canary" not in cursor.fetchone()[0]
    assert tell(runner, run, "complete", outputs={"said": "I used canary-7261"}).status_code == 200


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({}, True),
        ({"hosts": ["*"]}, False),
        ({"remote": True}, False),
        ({"remote": True, "modules": ["http.*"]}, True),
        ({"hosts": ["*"], "modules": ["http.*"]}, True),
    ],
)
def test_a_runner_gets_a_secret_only_where_its_credential_says_so(
    runner: APIClient,
    begin: Callable[..., str],
    workspace: Workspace,
    more: dict[str, Any],
    refused: bool,
) -> None:
    def keep(**given: Any) -> Credential:
        fields = {"value": "canary-7261"}
        return credentials.create(
            workspace, name="farm", type="secret", fields=fields, actor=ANN, **given
        )

    # Published while it was allowed everywhere.
    open_one = keep(hosts=["*"], remote=True)
    execution = begin(render(inputs={"key": "{{ secrets.farm }}"}), params={"scene": 1})
    Credential.objects.filter(pk=open_one.pk).delete()
    keep(**({"hosts": ["farm.example.com"]} | more))

    leased = lease(runner)

    assert len(leased) == (0 if refused else 1)
    use = CredentialUse.objects.get(execution_id=execution)
    assert (use.name, use.remote, use.allowed) == ("farm", True, not refused)
    if refused:
        run = Run.objects.get(execution_id=execution, step_path__startswith="render")
        assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
        assert 'may not use the credential "farm"' in run.error


def test_a_runner_gets_no_short_lived_values(
    runner: APIClient, begin: Callable[..., str], workspace: Workspace
) -> None:
    fields = {"address": "https://vault.example.com", "path": "kv/farm", "auth": "token"}
    credentials.create(
        workspace,
        name="farm",
        type="vault",
        fields=fields | {"token": "hvs.123456"},
        actor=ANN,
        hosts=["farm.example.com"],
        remote=True,
    )
    execution = begin(render(inputs={"key": "{{ secrets.farm.key }}"}), params={"scene": 1})

    assert lease(runner) == []

    run = Run.objects.get(execution_id=execution, step_path__startswith="render")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert 'the credential "farm" has short-lived values' in run.error
    assert not CredentialUse.objects.get(execution_id=execution).allowed


def test_a_run_whose_inputs_cannot_be_opened_fails_and_holds_up_no_other(
    runner: APIClient, begin: Callable[..., str], workspace: Workspace
) -> None:
    payload_keys.forget()
    payload_keys.make(workspace.pk)
    broken = begin(render(), params={"scene": 1})
    whole = begin(render(), name="another", params={"scene": 1})
    prepare_remote_runs()
    run = Run.objects.get(execution_id=broken)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET inputs = jsonb_build_object('$sealed', "
            "left(inputs->>'$sealed', -4) || 'AAAA') WHERE id = %s",
            [run.pk],
        )

    leased = lease(runner, limit=2) + lease(runner, limit=2)

    assert [one["executionId"] for one in leased] == [whole]
    entry = DeadLetterEntry.objects.get(run=run)
    assert "cannot be opened" in entry.failure_reason
    assert entry.original_inputs is None


def test_a_secret_in_an_error_is_taken_out(
    runner: APIClient, begin: Callable[..., str], workspace: Workspace
) -> None:
    credentials.create(
        workspace,
        name="farm",
        type="secret",
        fields={"value": "canary-7261"},
        actor=ANN,
        hosts=["farm.example.com"],
        remote=True,
    )
    begin(render(inputs={"key": "{{ secrets.farm }}"}), params={"scene": 1})
    [run] = lease(runner)

    answer = tell(runner, run, "fail", error="401 for canary-7261")

    assert answer.json()["error"] == "401 for [secret:farm]"


def test_why_a_step_waits_for_a_runner_is_explained(
    runner: APIClient, author: APIClient, execution: str, elsewhere: Workspace
) -> None:
    def reason() -> dict[str, Any]:
        explained = author.get(f"/v1/WorkflowExecution/{execution}/explain").json()
        found: dict[str, Any] = explained["steps"][0]["reason"]
        return found

    Runner.objects.create(
        workspace=elsewhere, name="elsewhere/x", host="h", pid=0, pool="remote", queues=["gpu"]
    )
    assert reason()["code"] == "waiting_for_remote_runner"
    assert "none has been seen in this workspace yet" in reason()["message"]
    assert reason()["details"] == {"queue": "gpu", "lastSeenAt": None}
    lease(runner, queues=["remote", "gpu"], limit=1)
    assert reason()["code"] == "leased"
    Run.objects.update(state="PENDING", lease_until=None)
    assert reason()["details"]["lastSeenAt"] is not None


@pytest.mark.parametrize(
    ("use", "config"),
    [
        ("flow.if", {"condition": True}),
        ("flow.delay", {"seconds": 1}),
        ("flow.map", {"items": []}),
    ],
)
def test_what_the_engine_does_itself_cannot_be_sent_to_runners(
    author: APIClient, use: str, config: dict[str, Any]
) -> None:
    task: dict[str, Any] = {"id": "one", "use": use, "with": config, "queue": "gpu"}
    if use == "flow.map":
        task["body"] = {"tasks": [{"id": "in", "use": "flow.noop"}]}
    document = {"schema": "valkyr/1", "name": "film", "tasks": [task]}
    made = author.post("/v1/Workflow", {"definition": document}, format="json")

    answer = author.post(f"/v1/Workflow/{made.data['id']}/publish")

    assert answer.status_code == 422
    assert ("tasks[0].queue", "not_remote") in [
        (error["path"], error["code"]) for error in answer.json()["errors"]
    ]


@pytest.mark.parametrize("queue", ["default", "office"])
def test_a_step_for_runners_cannot_be_sent_to_a_queue_without_them(
    author: APIClient, queue: str
) -> None:
    document = {"schema": "valkyr/1", "name": "film", "tasks": [render(queue=queue)]}
    made = author.post("/v1/Workflow", {"definition": document}, format="json")

    answer = author.post(f"/v1/Workflow/{made.data['id']}/publish")

    assert answer.status_code == 422
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [
        ("tasks[0].queue", "not_remote")
    ]


def test_a_lease_of_many_costs_few_queries_more(
    runner: APIClient, begin: Callable[..., str], django_assert_max_num_queries: Any
) -> None:
    begin(*(render(id=f"r{n}") for n in range(20)), params={"scene": 1})
    prepare_remote_runs()

    with django_assert_max_num_queries(20 + 10):
        answer = runner.post("/v1/Run/lease", ASK | {"limit": 100}, format="json")
    assert len(answer.json()) == 20
