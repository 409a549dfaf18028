"""Large changes of inputs and results, which operators give to failed steps, in the store."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import fix
from dlq.resolve.requeue import requeue
from executions.database.advisory_locks import AdvisoryLock, alone
from executions.errors import PayloadError
from executions.models import StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import PayloadStoreUnavailable, collecting
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.models import Run
from runners.modules.base import StepError
from runners.repair.forks import Overrides
from runners.states import ErrorType
from runners.testing.drive import silent
from runners.testing.harness import ACTOR, Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.support.payload_store import TEXT, use_store
from tests.support.rivals import Rivals
from valkyr_plugins.redrive import driver, lifecycle
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
from valkyr_plugins.redrive.models import Redrive, RedriveItem, RedriveScope
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.verify import verify

CALLS = """
schema: valkyr/1
name: calls
tasks:
  - {id: call, use: http.request, with: {url: "https://b.example/{{ input.n }}", method: POST,
     json: {a: 1}}}
  - {id: last, use: flow.noop, after: call, with: {value: "{{ tasks.call.output.body | length }}"}}
output: "{{ tasks.last.output }}"
"""
SETS = """
schema: valkyr/1
name: sets
variables: {kept: null, small: 1}
tasks:
  - {id: call, use: http.request, with: {url: "https://b.example/"}}
  - {id: set, use: flow.set_variables, after: call, with: {values: {
      kept: "{{ tasks.call.output.body.x }}"}}}
output: "{{ vars.kept | length }}"
"""
LARGE = {"json": {"text": TEXT}}


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db, store) -> Valkyr:
    payload_keys.forget()
    return Valkyr()


def body_of(inputs: Any, context: Any) -> dict[str, Any]:
    text = inputs.json_body.get("text", "") + inputs.json_body.get("more", "")
    return answer(text)


def answer(text: str) -> dict[str, Any]:
    return {
        "status": 200, "headers": {}, "body": text, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip


def failed(valkyr: Valkyr, number: int = 0) -> WorkflowRun:
    return valkyr.start(CALLS, {"n": number}, answers={"http.request": ValueError("no")})


def letter(run: WorkflowRun) -> DeadLetterEntry:
    return DeadLetterEntry.objects.filter(execution_id=run.id, resolution="PENDING").get()


def again(run: WorkflowRun, answers: Any = body_of, **wish: Any) -> WorkflowRun:
    with silent():
        requeue(letter(run).pk, actor=ACTOR, **wish)
    return WorkflowRun(run.id, {"http.request": answers}).carry()


def overrides_of(run: WorkflowRun, attempt: int) -> Any:
    return Run.objects.get(execution_id=run.id, step_path="call.main", attempt=attempt).overrides


def test_large_overrides_of_a_requeue_are_stored_and_merged(valkyr):
    run = again(failed(valkyr), overrides=LARGE).assert_state("SUCCESS")

    assert run.output == 20_000
    found = overrides_of(run, 2)["inputs"]
    assert found[STORED]
    assert found["preview"]["json"]["text"].startswith("xxx")
    call = Run.objects.get(execution_id=run.id, step_path="call.main", attempt=2)
    assert call.inputs[STORED]
    assert (verify(run.id).differences, verify(run.id).complete) == ([], True)


def test_later_overrides_apply_after_stored_ones(valkyr):
    run = again(failed(valkyr), ValueError("no"), overrides=LARGE)
    run = again(run, ValueError("no"), overrides={"json": {"more": "abc", "a": None}})
    run = again(run)

    run.assert_state("SUCCESS")
    assert run.output == 20_003
    first, second = overrides_of(run, 4)["inputs"]
    assert first == overrides_of(run, 2)["inputs"]
    assert second == {"json": {"more": "abc", "a": None}}


def test_a_retry_keeps_the_reference_to_stored_overrides(valkyr):
    tries = iter([StepError("later", ErrorType.TRANSIENT)])

    def once_later(inputs: Any, context: Any) -> Any:
        return next(tries, None) or body_of(inputs, context)

    run = again(failed(valkyr), once_later, overrides=LARGE)
    run.advance_time()

    run.assert_state("SUCCESS")
    assert run.output == 20_000
    assert overrides_of(run, 3) == overrides_of(run, 2)


def test_overrides_cannot_pretend_to_be_a_reference(valkyr):
    other = again(failed(valkyr, 1), overrides=LARGE)
    run = failed(valkyr, 2)
    forged = dict(overrides_of(other, 2)["inputs"])

    with pytest.raises(PayloadError, match="reserved for references"):
        again(run, overrides=forged)
    with pytest.raises(PayloadError, match="reserved for references"):
        fork(run.id, step_path="call.main", overrides=Overrides(steps={"call.main": forged}),
             actor=ACTOR)  # fmt: skip


def test_a_requeue_is_rejected_while_the_store_is_away(valkyr, store):
    run = failed(valkyr)
    store.write_text("a file where the folder should be")

    with pytest.raises(PayloadStoreUnavailable):
        again(run, overrides=LARGE)

    assert letter(run).resolution == "PENDING"


def test_stored_overrides_are_sealed(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)

    run = again(failed(valkyr), overrides={"json": {"text": "m4rker" * 2_000}})

    assert run.assert_state("SUCCESS").output == 12_000
    for path in store.rglob("*"):
        assert path.is_dir() or b"m4rker" not in path.read_bytes()


def test_a_large_result_that_an_operator_gives_is_stored(valkyr):
    run = failed(valkyr)

    with silent():
        fix(letter(run).pk, answer(TEXT), actor=ACTOR)
    run.carry().assert_state("SUCCESS")

    assert run.output == 20_000
    given = Run.objects.get(execution_id=run.id, step_path="call.main", attempt=2)
    assert given.outputs[STORED]
    [use] = StoredPayloadUse.objects.filter(payload_id=given.outputs[STORED])
    assert use.holder_id == run.id


def test_a_large_variable_that_an_operator_sets_is_stored(valkyr):
    run = valkyr.start(SETS, {}, answers={"http.request": answer("no object")})

    with silent():
        fix(letter(run).pk, {"kept": TEXT}, actor=ACTOR)
    run.carry().assert_state("SUCCESS")

    assert run.output == 20_000
    assert run.execution.context_data["kept"][STORED]
    assert run.execution.context_data["small"] == 1


def begun(entries: list[DeadLetterEntry], **wish: Any) -> Redrive:
    rows = DeadLetterEntry.objects.filter(pk__in=[entry.pk for entry in entries])
    made = make(rows, RedriveOptions(overrides=LARGE, **wish), actor=ACTOR)
    return lifecycle.start(made.pk, actor=ACTOR)


def test_a_redrive_stores_its_changes_once_for_all_steps(valkyr):
    runs = [failed(valkyr, number) for number in range(3)]
    begun([letter(run) for run in runs])

    with silent():
        driver.drive()

    for run in runs:
        WorkflowRun(run.id, {"http.request": body_of}).carry().assert_state("SUCCESS")
        assert run.output == 20_000
    found = {overrides_of(run, 2)["inputs"][STORED] for run in runs}
    [stored] = found
    users = StoredPayloadUse.objects.filter(payload_id=stored)
    assert {use.holder_id for use in users} == {run.id for run in runs}


def test_a_redrive_of_new_executions_uses_the_stored_changes(valkyr):
    run = failed(valkyr)
    redrive = begun([letter(run)], scope=RedriveScope.FROM)

    with silent():
        driver.drive()

    item = RedriveItem.objects.get(redrive=redrive)
    made = WorkflowRun(item.execution_id, {"http.request": body_of}).carry()
    assert made.assert_state("SUCCESS").output == 20_000
    assert overrides_of(made, 1)["inputs"][STORED]


def test_a_redrive_is_held_back_while_the_store_is_away(valkyr, store):
    run = failed(valkyr)
    redrive = begun([letter(run)])
    store.write_text("a file where the folder should be")

    with silent():
        driver.drive()

    item = RedriveItem.objects.get(redrive=redrive)
    assert item.state == "QUEUED"
    assert "could not be written" in item.reason
    store.unlink()
    with silent():
        driver.drive()
    assert RedriveItem.objects.get(redrive=redrive).state == "RUNNING"


@pytest.mark.parametrize("scope", [RedriveScope.STEP, RedriveScope.FROM, RedriveScope.EXECUTION])
def test_the_driver_keeps_its_lock_while_it_stores_changes(valkyr, scope):
    run = valkyr.start(CALLS, {"n": 1, "text": TEXT}, answers={"http.request": ValueError("no")})
    begun([letter(run)], scope=scope)

    with silent(), alone(AdvisoryLock.REDRIVE_DRIVER) as held, Rivals() as rivals:
        assert held
        assert driver.drive() == 1
        assert not rivals.begin(is_free).result(60)


def is_free() -> bool:
    with alone(AdvisoryLock.REDRIVE_DRIVER) as held:
        return held


def test_a_fork_stores_the_changed_inputs_of_its_steps(valkyr):
    run = failed(valkyr)

    with silent():
        made = fork(
            run.id, step_path="call.main", overrides=Overrides(steps={"call.main": LARGE}),
            actor=ACTOR,
        )  # fmt: skip

    forked = WorkflowRun(made.pk, {"http.request": body_of}).carry().assert_state("SUCCESS")
    assert forked.output == 20_000
    reference = overrides_of(forked, 1)["inputs"]
    [use] = StoredPayloadUse.objects.filter(payload_id=reference[STORED])
    assert use.holder_id == made.pk


def test_an_idempotent_fork_stores_the_changes_before_its_transaction(valkyr, django_user_model):
    run = failed(valkyr)
    client = APIClient()
    client.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))
    url = reverse("valkyr-execution-fork", args=[run.id])
    body = {"stepPath": "call.main", "overrides": {"steps": {"call.main": LARGE}}}

    with silent():
        first = client.post(url, body, format="json", headers={"Idempotency-Key": "f1"})
        again = client.post(url, body, format="json", headers={"Idempotency-Key": "f1"})

    assert (first.status_code, again.status_code) == (202, 202), first.content
    assert first.json()["id"] == again.json()["id"]
    forked = WorkflowRun(UUID(first.json()["id"]), {"http.request": body_of}).carry()
    assert forked.assert_state("SUCCESS").output == 20_000
    assert overrides_of(forked, 1)["inputs"][STORED]


def test_stored_changes_are_collected_with_the_execution(valkyr):
    run = again(failed(valkyr), overrides=LARGE).assert_state("SUCCESS")
    DeadLetterEntry.objects.all().delete()

    assert collecting.collect(grace=timedelta(0)).deleted == 0
    Run.objects.filter(execution_id=run.id).delete()
    WorkflowExecution.objects.filter(pk=run.id).delete()
    collecting.collect(grace=timedelta(0))
    assert not StoredPayload.objects.exists()


def test_without_a_store_changes_stay_in_the_row(valkyr, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_STORE": ""}

    run = again(failed(valkyr), overrides=LARGE).assert_state("SUCCESS")

    assert overrides_of(run, 2)["inputs"] == LARGE
