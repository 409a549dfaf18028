"""Webhooks: authentication, replay protection, the body's conversion, and the response."""

import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, connections
from rest_framework.test import APIClient

from executions import lifecycle
from executions.api import hooks
from executions.database.clock import database_now
from executions.models import (
    Activity,
    Tier,
    Trigger,
    WebhookDelivery,
    Workflow,
    WorkflowExecution,
    Workspace,
)
from executions.sealing.sealer import PayloadSealer
from executions.states import ExecutionState
from executions.triggers import webhook
from executions.triggers.signature import header
from executions.triggers.sync import switch
from executions.triggers.webhook import secret_of
from tests.support.triggers import NAMED, only_trigger, publish_again, triggered
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"
JSON = "application/json"


def signed(
    trigger: Trigger, body: bytes, *, late: int = 0, secret: str | None = None
) -> dict[str, str]:
    """Return the header of a signature made `late` seconds ago."""
    at = int(database_now().timestamp()) - late
    key = secret_of(trigger.pk, trigger.secret_version) if secret is None else secret
    return {"X-Valkyr-Signature": header(key, at, body)}


def send(trigger_id: Any, body: bytes, headers: dict[str, str], kind: str = JSON) -> Any:
    return APIClient().generic(
        "POST", f"/v1/hooks/{trigger_id}", body, content_type=kind, headers=headers
    )


def call(trigger: Trigger, body: bytes = b'{"n": 1}', kind: str = JSON, **more: str) -> Any:
    return send(trigger.pk, body, signed(trigger, body) | more, kind)


@pytest.fixture
def hook() -> Trigger:
    return only_trigger(triggered({"type": "WEBHOOK"}))


@pytest.fixture
def open_hook() -> Trigger:
    return only_trigger(triggered({"type": "WEBHOOK", "auth": "bearer"}))


def bearer(trigger: Trigger) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret_of(trigger.pk, trigger.secret_version)}"}


def test_a_signed_request_starts_an_execution_with_its_body(hook: Trigger) -> None:
    answer = call(hook, b'{"order": 7}')

    assert answer.status_code == 202, answer.content
    execution = WorkflowExecution.objects.get()
    assert answer.json() == {"executionId": str(execution.pk)}
    assert answer["Location"] == f"/v1/WorkflowExecution/{execution.pk}"
    assert execution.trigger_type == "WEBHOOK"
    assert execution.trigger_id == hook.pk
    assert execution.trigger_payload == {"order": 7}
    assert Activity.objects.get(action="execution.start").actor_name == "webhook"


def test_a_bearer_token_starts_an_execution_however_often(open_hook: Trigger) -> None:
    answers = [send(open_hook.pk, b"{}", bearer(open_hook)) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert WorkflowExecution.objects.count() == 2


def test_the_secret_is_in_no_row(hook: Trigger, open_hook: Trigger) -> None:
    call(hook)
    send(open_hook.pk, b"{}", bearer(open_hook))
    secrets = [secret_of(t.pk, 1) for t in (hook, open_hook)]

    with connection.cursor() as cursor:
        for model in (Trigger, Activity, WebhookDelivery, WorkflowExecution):
            cursor.execute(f"SELECT t::text FROM {model._meta.db_table} t")
            text = str(cursor.fetchall())
            assert not any(secret in text for secret in secrets)


def refusals(hook: Trigger, open_hook: Trigger, body: bytes) -> dict[str, tuple[Any, Any]]:
    """Return (path, headers) of every request that must not start anything."""
    good = signed(hook, body)["X-Valkyr-Signature"]
    unknown = uuid4()
    return {
        "no header": (hook.pk, {}),
        "another secret": (hook.pk, signed(hook, body, secret="0" * 64)),
        "another trigger's secret": (hook.pk, signed(hook, body, secret=secret_of(unknown, 1))),
        "another body": (hook.pk, signed(hook, b'{"n": 2}')),
        "too old": (hook.pk, signed(hook, body, late=302)),
        "too far ahead": (hook.pk, signed(hook, body, late=-302)),
        "another time": (hook.pk, {"X-Valkyr-Signature": "t=1," + good.partition(",")[2]}),
        "no time": (hook.pk, {"X-Valkyr-Signature": good.partition(",")[2]}),
        "two times": (hook.pk, {"X-Valkyr-Signature": f"t=1,{good}"}),
        "no number": (hook.pk, {"X-Valkyr-Signature": "t=now,v1=" + "a" * 64}),
        "garbage": (hook.pk, {"X-Valkyr-Signature": "\u00e9,=,,t="}),
        "endless": (hook.pk, {"X-Valkyr-Signature": good + ",v1=" + "a" * 5000}),
        "a token where a signature is due": (hook.pk, bearer(hook)),
        "a signature where a token is due": (open_hook.pk, signed(open_hook, body)),
        "another token": (open_hook.pk, {"Authorization": "Bearer " + "0" * 64}),
        "another scheme": (open_hook.pk, {"Authorization": "Basic " + secret_of(open_hook.pk, 1)}),
        "an odd token": (open_hook.pk, {"Authorization": "Bearer \u00e9"}),
        "no such trigger, signed": (unknown, signed(hook, body, secret=secret_of(unknown, 1))),
        "no such trigger, token": (unknown, {"Authorization": "Bearer x"}),
    }


def test_every_refusal_is_the_same_401(hook: Trigger, open_hook: Trigger) -> None:
    schedule = only_trigger(triggered({"type": "EVENT", "event": "x"}))
    body = b'{"n": 1}'
    cases = refusals(hook, open_hook, body)
    cases["no webhook"] = (schedule.pk, signed(schedule, body))

    answers = {name: send(pk, body, headers) for name, (pk, headers) in cases.items()}

    assert {name: a.status_code for name, a in answers.items()} == dict.fromkeys(cases, 401)
    assert {answer["Content-Type"] for answer in answers.values()} == {PROBLEM}
    assert len({answer.content for answer in answers.values()}) == 1
    assert all("WWW-Authenticate" in answer for answer in answers.values())
    assert WorkflowExecution.objects.count() == WebhookDelivery.objects.count() == 0


@pytest.mark.parametrize("late", [290, -290])
def test_a_clock_within_five_minutes_of_ours_is_good_enough(hook: Trigger, late: int) -> None:
    assert send(hook.pk, b"{}", signed(hook, b"{}", late=late)).status_code == 202


def test_a_request_sent_again_is_refused(hook: Trigger) -> None:
    headers = signed(hook, b"{}")

    first, second = (send(hook.pk, b"{}", headers) for _ in range(2))

    assert (first.status_code, second.status_code) == (202, 401)
    assert second.json() == send(hook.pk, b"{}", {}).json()
    assert WorkflowExecution.objects.count() == 1


def test_one_signature_of_several_is_enough(hook: Trigger) -> None:
    good = signed(hook, b"{}")["X-Valkyr-Signature"]

    answer = send(hook.pk, b"{}", {"X-Valkyr-Signature": good + ",v1=" + "a" * 64})

    assert answer.status_code == 202
    assert send(hook.pk, b"{}", {"X-Valkyr-Signature": good}).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_a_request_sent_twice_at_once_starts_one_execution() -> None:
    hook = only_trigger(triggered({"type": "WEBHOOK"}))
    headers = signed(hook, b"{}")
    gate = threading.Barrier(4)
    found: list[int] = []

    def deliver() -> None:
        try:
            gate.wait(timeout=60)
            found.append(send(hook.pk, b"{}", headers).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert sorted(found) == [202, 401, 401, 401]
    assert WorkflowExecution.objects.count() == WebhookDelivery.objects.count() == 1


def test_a_request_that_started_nothing_may_be_sent_again() -> None:
    workflow = triggered({"type": "WEBHOOK"})
    hook = only_trigger(workflow)
    headers = signed(hook, b"{}")
    Workflow.objects.filter(pk=workflow.pk).update(enabled=False)

    refused = send(hook.pk, b"{}", headers)
    Workflow.objects.filter(pk=workflow.pk).update(enabled=True)
    accepted = send(hook.pk, b"{}", headers)

    assert (refused.status_code, refused.json()["code"]) == (409, "workflow_disabled")
    assert accepted.status_code == 202


def test_signatures_too_old_to_be_accepted_again_are_forgotten(hook: Trigger) -> None:
    call(hook, b'{"n": 1}')
    call(hook, b'{"n": 2}')
    old = WebhookDelivery.objects.first()
    assert old is not None
    WebhookDelivery.objects.filter(pk=old.pk).update(created_at=database_now() - webhook.KEPT)

    assert webhook.prune() == 1
    assert WebhookDelivery.objects.count() == 1


@pytest.mark.parametrize("auth", ["hmac", "bearer"])
def test_the_former_secret_is_accepted_until_the_overlap_ends(auth: str) -> None:
    hook = only_trigger(triggered({"type": "WEBHOOK", "auth": auth}))
    first = secret_of(hook.pk, hook.secret_version)

    def status(body: bytes, secret: str) -> int:
        bearer = {"Authorization": f"Bearer {secret}"}
        own = signed(hook, body, secret=secret) if auth == "hmac" else bearer
        return send(hook.pk, body, own).status_code

    second = webhook.rotate(hook.pk, actor=ACTOR)

    assert (status(b"[1]", first), status(b"[2]", second)) == (202, 202)
    until = Trigger.objects.get(pk=hook.pk).former_secret_until
    assert until is not None
    assert timedelta(hours=23) < until - database_now() <= timedelta(hours=24)

    third = webhook.rotate(hook.pk, actor=ACTOR, overlap=60)
    found = [status(b"[%d]" % n, secret) for n, secret in enumerate((first, second, third), 3)]
    assert found == [401, 202, 202], "one former secret is accepted"

    Trigger.objects.filter(pk=hook.pk).update(former_secret_until=database_now())
    assert (status(b"[6]", second), status(b"[7]", third)) == (401, 202)


def test_a_new_secret_without_an_overlap_shuts_the_old_one_out(hook: Trigger) -> None:
    old = secret_of(hook.pk, hook.secret_version)

    new = webhook.rotate(hook.pk, actor=ACTOR, overlap=0)

    assert send(hook.pk, b"{}", signed(hook, b"{}", secret=old)).status_code == 401
    assert send(hook.pk, b"{}", signed(hook, b"{}", secret=new)).status_code == 202


def test_secrets_outlive_a_change_of_the_installations_key(hook: Trigger, settings: Any) -> None:
    old = secret_of(hook.pk, hook.secret_version)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" + "k" * 60
    new = secret_of(hook.pk, hook.secret_version)

    assert new != old
    for body, secret in ((b"[1]", old), (b"[2]", new)):
        assert send(hook.pk, body, signed(hook, body, secret=secret)).status_code == 202

    settings.SECRET_KEY_FALLBACKS = []
    assert send(hook.pk, b"[3]", signed(hook, b"[3]", secret=old)).status_code == 401


def test_a_webhook_switched_off_tells_only_who_may_know(hook: Trigger) -> None:
    switch(hook.pk, enabled=False, actor=ACTOR)

    answer = call(hook)

    assert (answer.status_code, answer.json()["state"]) == (409, "DISABLED")
    assert send(hook.pk, b"{}", {}).status_code == 401


def test_a_webhook_gone_from_the_definition_says_so_until_it_comes_back() -> None:
    workflow = triggered({"type": "WEBHOOK"})
    hook = only_trigger(workflow)

    publish_again(workflow)
    gone = call(hook)
    publish_again(workflow, {"type": "WEBHOOK"}, settings={"priority": 7})

    assert (gone.status_code, gone.json()["state"]) == (409, "RETIRED")
    assert call(hook).status_code == 202


@pytest.mark.parametrize(
    ("body", "kind", "payload"),
    [
        (b'{"a": [1, null]}', JSON, {"a": [1, None]}),
        (b"[1]", "application/cloudevents+json; charset=utf-8", [1]),
        (b'"text"', "", "text"),
        (b"", JSON, {}),
        (b"", "text/plain", {}),
        ("Grüße".encode(), "text/plain", {"body": "Grüße", "contentType": "text/plain"}),
        (
            b"a=1&b=2", "application/x-www-form-urlencoded",
            {"body": "a=1&b=2", "contentType": "application/x-www-form-urlencoded"},
        ),
        (b"<a/>", "Application/XML", {"body": "<a/>", "contentType": "application/xml"}),
    ],
)  # fmt: skip
def test_a_body_becomes_the_payload(hook: Trigger, body: bytes, kind: str, payload: Any) -> None:
    answer = call(hook, body, kind)

    assert answer.status_code == 202, answer.content
    assert WorkflowExecution.objects.get().trigger_payload == payload


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"{", JSON, 400, "malformed_json"),
        (b'{"a": NaN}', JSON, 400, "malformed_json"),
        (b"[" * 50_000, JSON, 400, "malformed_json"),
        (b"\xff", JSON, 400, "not_utf8"),
        (b"\xff", "image/png", 400, "not_utf8"),
        (b'{"a": "\\u0000"}', JSON, 422, "invalid"),
        (b"a\x00b", "text/plain", 422, "invalid"),
        (b'"' + b"x" * 1024 * 1024 + b'"', JSON, 413, "body_too_large"),
    ],
)
def test_a_body_that_cannot_be_a_payload_is_refused(
    hook: Trigger, body: bytes, kind: str, status: int, code: str
) -> None:
    answer = call(hook, body, kind)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == PROBLEM
    assert WorkflowExecution.objects.count() == WebhookDelivery.objects.count() == 0


def test_a_payload_that_breaks_the_schema_is_refused_field_by_field() -> None:
    hook = only_trigger(triggered({"type": "WEBHOOK"}, input=NAMED))

    answer = call(hook, b'{"name": 5}')

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "params.name"
    assert WebhookDelivery.objects.count() == 0


def test_the_same_key_starts_one_execution(hook: Trigger) -> None:
    headers = {"Idempotency-Key": "order-7"}

    first = call(hook, b"[1]", **headers)
    second = send(hook.pk, b"[1]", signed(hook, b"[1]", late=60) | headers)
    third = send(hook.pk, b"[2]", signed(hook, b"[2]") | headers)

    assert first.json() == second.json()
    assert (third.status_code, third.json()["code"]) == (409, "key_reused")
    assert WorkflowExecution.objects.count() == 1


def test_a_full_workspace_says_when_to_try_again(tier: Tier) -> None:
    full = Tier.objects.create(name="full", max_concurrent=0, max_pending=0)
    workspace = Workspace.objects.create(slug="full", name="Full", tier=full)
    hook = only_trigger(triggered({"type": "WEBHOOK"}, workspace=workspace))

    answer = call(hook)

    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0


def test_an_address_that_is_refused_too_often_must_wait(hook: Trigger) -> None:
    answers = [send(hook.pk, b"{}", {}).status_code for _ in range(61)]

    assert answers == [401] * 60 + [429]


def test_a_sender_may_send_so_much_a_minute(hook: Trigger, settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"WEBHOOK_RATE": 2}

    answers = [call(hook, json.dumps(n).encode()).status_code for n in range(3)]

    assert answers == [202, 202, 429]


@pytest.mark.parametrize("accept", ["text/html", "image/*", "nonsense"])
def test_what_a_sender_accepts_does_not_matter(hook: Trigger, accept: str) -> None:
    assert call(hook, Accept=accept).status_code == 202


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_only_post_is_taken(hook: Trigger, method: str) -> None:
    answer = getattr(APIClient(), method)(f"/v1/hooks/{hook.pk}")

    assert answer.status_code == 405


def test_an_address_that_is_no_id_tells_nothing() -> None:
    assert send("orders", b"{}", {}).status_code == 401


def finish(execution: WorkflowExecution, state: ExecutionState, **result: Any) -> None:
    """End an execution as the engine does."""
    sealer = PayloadSealer(execution.pk, execution.workspace_id)
    lifecycle.finish(execution.pk, state, sealer=sealer, **result)


class TestResult:
    """`respond: result`: the caller waits for the execution's end."""

    pytestmark = pytest.mark.django_db(transaction=True)

    def waiting(self, seconds: float = 30) -> Trigger:
        return only_trigger(
            triggered({"type": "WEBHOOK", "respond": "result", "timeoutSeconds": seconds})
        )

    def call_and(self, hook: Trigger, end: Callable[[WorkflowExecution], Any]) -> Any:
        """Send the call; during the call, end the execution, as workers would."""
        answers: list[Any] = []

        def deliver() -> None:
            try:
                answers.append(call(hook))
            finally:
                connection.close()

        thread = threading.Thread(target=deliver)
        thread.start()
        wait_until(WorkflowExecution.objects.exists, what="an execution")
        assert not answers
        end(WorkflowExecution.objects.get())
        thread.join(timeout=60)
        return answers[0]

    def test_the_output_is_the_answer(self) -> None:
        def succeed(execution: WorkflowExecution) -> None:
            finish(execution, ExecutionState.SUCCESS, output={"sum": 3})

        answer = self.call_and(self.waiting(), succeed)

        assert (answer.status_code, answer.json()) == (200, {"sum": 3})
        assert answer["Location"].startswith("/v1/WorkflowExecution/")

    def test_no_output_is_null(self) -> None:
        def succeed(execution: WorkflowExecution) -> None:
            finish(execution, ExecutionState.SUCCESS)

        answer = self.call_and(self.waiting(), succeed)

        assert (answer.status_code, answer.content) == (200, b"null")

    def test_a_failure_is_a_502_without_its_reasons(self) -> None:
        def fail(execution: WorkflowExecution) -> None:
            finish(execution, ExecutionState.FAILED, error_message="the vault is open")

        answer = self.call_and(self.waiting(), fail)

        assert answer.status_code == 502
        assert answer["Content-Type"] == PROBLEM
        assert answer.json()["state"] == "FAILED"
        assert answer.json()["executionId"] == str(WorkflowExecution.objects.get().pk)
        assert "vault" not in answer.content.decode()

    def test_a_cancelled_execution_is_a_502(self) -> None:
        answer = self.call_and(
            self.waiting(), lambda execution: lifecycle.cancel(execution.pk, actor=ACTOR)
        )

        assert (answer.status_code, answer.json()["state"]) == (502, "CANCELLED")

    def test_when_time_is_over_the_id_is_the_answer(self) -> None:
        started = time.monotonic()

        answer = call(self.waiting(1))

        assert answer.status_code == 202
        assert answer.json() == {"executionId": str(WorkflowExecution.objects.get().pk)}
        assert 1 <= time.monotonic() - started < 10

    def test_where_too_many_wait_the_id_is_the_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places = threading.BoundedSemaphore(1)
        monkeypatch.setattr(hooks, "_seats", lambda: places)
        hook = self.waiting()
        started = time.monotonic()

        with places:
            answer = call(hook)

        assert answer.status_code == 202
        assert time.monotonic() - started < 10

    def test_a_waiting_caller_holds_no_connection_to_the_database(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # As in the web process.
        monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
        seen: list[bool] = []
        with connection.cursor() as cursor:
            before = _others(cursor)

        def look(execution: WorkflowExecution) -> None:
            with connection.cursor() as cursor:
                wait_until(lambda: _others(cursor) <= before, what="no connection of its own")
                seen.append(True)
            finish(execution, ExecutionState.SUCCESS)

        answer = self.call_and(self.waiting(), look)

        assert answer.status_code == 200
        assert seen


def _others(cursor: Any) -> int:
    cursor.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    return int(cursor.fetchone()[0])
