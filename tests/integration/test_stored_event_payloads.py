"""Large payloads of events, signals and callbacks in the payload store."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.urls import reverse
from rest_framework.test import APIClient

from executions.models import Event, Membership, StoredPayload, StoredPayloadUse, WorkflowExecution
from executions.payload_store import PayloadStoreUnavailable, collecting
from executions.payloads import STORED
from executions.sealing import payload_keys
from executions.triggers.event import publish_event
from runners.models import EarlyCallback, Run
from runners.modules.base import Result, Wait
from runners.modules.waits import WaitForEvent
from runners.segment.template_data import callback_url_of
from runners.states import WaitKind
from runners.testing.drive import silent
from runners.testing.harness import ACTOR, Valkyr
from runners.waits import events
from tests.support.payload_store import TEXT, use_store

LARGE = {"order": 7, "text": TEXT}
WAITS = """
schema: valkyr/1
name: waits
tasks:
  - {id: wait, use: flow.wait_for_event, with: {event: paid, filter: "{{ event.order == 7 }}"}}
  - {id: read, use: flow.noop, after: "wait:success",
     with: {value: "{{ tasks.wait.output.event.text | length }}"}}
output: "{{ tasks.read.output }}"
"""
CALLED = """
schema: valkyr/1
name: called
tasks:
  - {id: first, use: flow.approval, with: {title: "{{ tasks.wait.callbackUrl }}"}}
  - {id: wait, use: flow.callback, after: "first:approved", with: {title: t}}
  - {id: read, use: flow.noop, after: "wait:success",
     with: {value: "{{ tasks.wait.output.payload.text | length }}"}}
output: "{{ tasks.read.output }}"
"""
LISTENS = """
schema: valkyr/1
name: listens
triggers:
  - {type: EVENT, event: paid, filter: "{{ event.order == 7 }}"}
tasks:
  - {id: read, use: flow.noop, with: {value: "{{ input.text | length }}"}}
output: "{{ tasks.read.output }}"
"""


class Reader(WaitForEvent):
    """Waits for an event, and reads its payload."""

    type = "test.reader"
    outcomes = ()
    Outputs = None
    deferred = ()
    bad_inputs = ()

    def execute(self, inputs, ctx) -> Wait:
        return Wait(WaitKind.EVENT, key=inputs.event)

    def woken(self, inputs, wake, ctx) -> Result:
        return Result({"length": len(wake["payload"]["text"])})


READS = """
schema: valkyr/1
name: reads
tasks: [{id: wait, use: test.reader, with: {event: paid}}]
output: "{{ tasks.wait.output.length }}"
"""


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db, store) -> Valkyr:
    payload_keys.forget()
    return Valkyr()


@pytest.fixture
def client(django_user_model) -> APIClient:
    made = APIClient()
    made.force_authenticate(django_user_model.objects.create_superuser("root", "", "p"))
    return made


@pytest.fixture
def system(valkyr, django_user_model) -> APIClient:
    user = django_user_model.objects.create_user("system")
    Membership.objects.create(user=user, workspace=valkyr.workspace, role="SYSTEM")
    made = APIClient()
    made.force_authenticate(user)
    return made


def raw(model, pk, column: str):
    return model.objects.filter(pk=pk).values_list(column, flat=True).get()


def run_of(execution_id, path: str = "wait.main") -> Run:
    return Run.objects.get(execution_id=execution_id, step_path=path)


def publish(valkyr: Valkyr, payload=LARGE, event_id: str | None = None) -> Event:
    with silent():
        return publish_event(
            valkyr.workspace, "paid", payload, actor=ACTOR, event_id=event_id
        ).event


def test_an_event_and_the_runs_that_it_wakes_refer_to_one_file(valkyr):
    waiting = [valkyr.start(WAITS, {}) for _ in range(3)]

    event = publish(valkyr)
    for run in waiting:
        run.carry().assert_state("SUCCESS")

    assert raw(Event, event.pk, "payload")[STORED]
    for run in waiting:
        assert run.output == 20_000
        wait = run_of(run.id)
        assert wait.wake["payload"] == event.payload
        assert wait.outputs["event"] == event.payload
        assert wait.outputs["eventId"] == event.event_id
    [stored] = StoredPayload.objects.all()
    users = set(StoredPayloadUse.objects.filter(payload=stored).values_list("holder_id"))
    assert users == {(event.pk,), *((run.id,) for run in waiting)}


def test_filters_read_the_complete_payload_of_a_stored_event(valkyr):
    run = valkyr.start(WAITS, {})

    publish(valkyr, LARGE | {"order": 8})
    run.carry()
    assert run.state == "RUNNING"
    publish(valkyr)

    run.carry().assert_state("SUCCESS")


def test_a_missing_payload_is_named_in_the_log_of_its_filter(valkyr, store):
    run = valkyr.start(WAITS, {})
    event = publish(valkyr)
    [file] = [path for path in store.rglob("*") if path.is_file()]
    file.unlink()

    run.carry()

    assert run.state == "RUNNING"
    [log] = run_of(run.id).logs
    assert "is not in the payload store" in log["message"]
    event.refresh_from_db()
    assert event.delivered_at is not None


def test_a_changed_sealed_payload_is_named_in_the_log_of_its_filter(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)
    run = valkyr.start(WAITS, {})
    event = publish(valkyr)
    [file] = [path for path in store.rglob("*") if path.is_file()]
    file.write_bytes(file.read_bytes()[:-1] + b"?")

    run.carry()

    [log] = run_of(run.id).logs
    assert "cannot be opened" in log["message"]
    event.refresh_from_db()
    assert event.delivered_at is not None


def test_an_event_is_delivered_once_the_store_answers(valkyr, store):
    run = valkyr.start(WAITS, {})
    event = publish(valkyr)
    away = store.rename(store.with_name("away"))

    with pytest.raises(PayloadStoreUnavailable), silent():
        events.deliver(event.pk)
    away.rename(store)

    run.carry().assert_state("SUCCESS")


def test_an_event_is_rejected_if_its_payload_cannot_be_stored(valkyr, store):
    store.write_text("a file where the folder should be")

    with pytest.raises(PayloadStoreUnavailable):
        publish(valkyr)

    assert not Event.objects.exists()


def test_triggers_start_with_the_file_of_the_event(valkyr):
    workflow = valkyr.publish(LISTENS)

    event = publish(valkyr)

    started = WorkflowExecution.objects.get(workflow=workflow)
    assert started.trigger_payload == event.payload
    assert StoredPayload.objects.count() == 1


def test_a_module_that_reads_the_payload_gets_it_loaded(valkyr):
    valkyr.install(Reader)
    run = valkyr.start(READS, {})

    publish(valkyr)

    run.carry().assert_state("SUCCESS")
    assert run.output == 20_000


def test_a_signal_is_stored_once_for_the_execution(valkyr):
    run = valkyr.start(WAITS, {})

    with pytest.raises(events.NobodyWaits):
        run.signal("paid", LARGE | {"order": 8})
    assert not StoredPayload.objects.exists()
    run.signal("paid", LARGE)

    run.assert_state("SUCCESS")
    assert run.output == 20_000
    assert run_of(run.id).wake["payload"][STORED]
    [use] = StoredPayloadUse.objects.all()
    assert use.holder_id == run.id


@pytest.mark.parametrize("early", [False, True])
def test_a_callback_is_stored_also_if_it_comes_early(valkyr, client, early):
    run = valkyr.start(CALLED, {})
    if not early:
        run.approve("first")

    with silent():
        url = callback_url_of(run.id, "wait.main")
        answer = client.post(url, LARGE, format="json")
        again = client.post(url, LARGE | {"order": 9}, format="json")

    assert (answer.status_code, again.status_code) == (202, 409)
    assert StoredPayload.objects.count() == 1
    if early:
        [kept] = EarlyCallback.objects.values_list("payload", flat=True)
        assert kept[STORED]
        run.approve("first")
    run.carry().assert_state("SUCCESS")
    assert run.output == 20_000
    assert run_of(run.id).outputs["payload"][STORED]


def test_the_files_of_sealed_events_are_sealed(valkyr, store):
    payload_keys.make(valkyr.workspace.pk)
    run = valkyr.start(WAITS, {})

    event = publish(valkyr, {"order": 7, "text": "m4rker" * 2_000})

    run.carry().assert_state("SUCCESS")
    assert run.output == 12_000
    assert set(raw(Event, event.pk, "payload")) == {"$sealed"}
    for path in store.rglob("*"):
        assert path.is_dir() or b"m4rker" not in path.read_bytes()


def test_a_file_is_kept_until_the_event_and_its_executions_are_deleted(valkyr):
    run = valkyr.start(WAITS, {})
    event = publish(valkyr)
    run.carry().assert_state("SUCCESS")

    Run.objects.filter(execution_id=run.id).delete()
    WorkflowExecution.objects.filter(pk=run.id).delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    event.delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 1


def test_the_pages_of_an_event_show_its_complete_payload(
    valkyr, store, settings, client, admin_client
):
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    event = publish(valkyr)
    page = reverse("admin:executions_event_change", args=[event.pk])

    found = client.get(reverse("valkyr-event", args=[event.pk]))
    shown = admin_client.get(page).content.decode()

    assert found.json()["payload"] == LARGE
    assert TEXT in shown
    store.rename(store.with_name("away"))
    assert client.get(reverse("valkyr-event", args=[event.pk])).status_code == 503
    assert STORED in admin_client.get(page).content.decode()


def test_an_idempotent_request_stores_the_payload_before_its_transaction(valkyr, system):
    body = {"name": "paid", "payload": LARGE}
    url = reverse("valkyr-events")

    with silent():
        first = system.post(url, body, format="json", headers={"Idempotency-Key": "k1"})
        second = system.post(url, body, format="json", headers={"Idempotency-Key": "k1"})

    assert (first.status_code, second.status_code) == (202, 202)
    [event] = Event.objects.all()
    assert raw(Event, event.pk, "payload")[STORED]


def test_an_event_in_a_transaction_stays_in_its_row(valkyr):
    with transaction.atomic():
        event = publish(valkyr)

    assert raw(Event, event.pk, "payload") == LARGE
    assert not StoredPayload.objects.exists()


def test_without_a_store_payloads_stay_in_rows(valkyr, settings):
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_STORE": ""}
    run = valkyr.start(WAITS, {})

    event = publish(valkyr)

    run.carry().assert_state("SUCCESS")
    assert raw(Event, event.pk, "payload") == LARGE
    assert run_of(run.id).wake["payload"] == LARGE
