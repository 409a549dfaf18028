"""The collector of stored values races with executions that are about to refer to the values."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.db import transaction

from executions.admission import concurrency
from executions.configuration import settings as valkyr_settings
from executions.database.ids import uuid7
from executions.models import Event, StoredPayload, StoredPayloadUse, Workspace
from executions.payload_store import PayloadStoreUnavailable, collecting, reading, writing
from executions.payloads import StoredReference, dump
from executions.sealing import payload_keys
from executions.triggers.event import publish_event
from runners.testing.drive import silent
from runners.testing.harness import ACTOR, Valkyr
from runners.waits import events
from tests.support.payload_store import use_store
from tests.support.rivals import Rivals, my_session, wait_until_blocked

SMALL = """
schema: valkyr/1
name: small
tasks: [{id: only, use: flow.noop}]
"""
ROUNDS = 40
NOW = timedelta(0)


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db, store):
    payload_keys.forget()
    return Valkyr()


def text_number(number: int) -> str:
    return f'"{number:08}{"x" * 5_000}"'


def put(workspace: UUID, execution: UUID, text: str, value: object = None) -> StoredReference:
    """Store a value (by default the text), as a worker does before it records a step."""
    found = writing.encoded(text[1:-1] if value is None else value, "text", 10_000)
    row = writing.note(workspace, execution, found, None)
    writing.write(workspace, row, found.parts())
    writing.written(row)
    return writing.refer(row, text[1:-1])


def files_in(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


def test_a_value_stored_while_the_collector_removes_an_equal_one_is_kept(valkyr):
    """A value stored while the collector removes an equal one is kept.

    Each round races on one value that only a deleted execution used.
    """
    workspace, execution = valkyr.workspace.pk, valkyr.start(SMALL, {}).id

    for number in range(ROUNDS):
        text = text_number(number)
        put(workspace, uuid7(), text)
        with Rivals() as rivals:
            collectors = [rivals.begin(collecting.collect, grace=NOW) for _ in range(2)]
            stored = rivals.begin(put, workspace, execution, text)
            reference = stored.result(60)
            assert reading.text_of(workspace, reference) == text.encode()
            for collector in collectors:
                collector.result(60)
        assert reading.text_of(workspace, reference) == text.encode()

    assert collecting.collect(grace=NOW).deleted == 0


def test_a_worker_waits_for_a_mark_and_then_stores_a_new_file(valkyr, store):
    workspace, execution = valkyr.workspace.pk, valkyr.start(SMALL, {}).id
    put(workspace, uuid7(), text_number(1))

    with Rivals() as rivals:
        with transaction.atomic():
            checked, [due] = collecting._marked(NOW)
            stored = rivals.begin(put, workspace, execution, text_number(1))
            wait_until_blocked(my_session())
        reference = stored.result(60)

    assert checked == 1
    [kept] = StoredPayload.objects.filter(deleting_at=None)
    assert kept.pk != due.pk
    StoredPayload.objects.filter(pk=due.pk).update(deleting_at="2020-01-01T00:00Z")
    assert collecting.collect(grace=NOW).deleted == 1
    [file] = files_in(store)
    assert str(kept.pk) in file.name
    assert reading.text_of(workspace, reference) == text_number(1).encode()


def test_the_collector_skips_values_that_an_open_transaction_keeps(valkyr):
    workspace, execution = valkyr.workspace.pk, valkyr.start(SMALL, {}).id
    reference = put(workspace, uuid7(), text_number(1))

    with Rivals() as rivals, transaction.atomic():
        writing.keep_each([(execution, [{"nested": reference}])])
        assert rivals.begin(collecting._marked, NOW).result(60) == (0, [])

    assert collecting.collect(grace=NOW).deleted == 0
    assert reading.text_of(workspace, reference) == text_number(1).encode()


def test_a_crash_before_the_commit_leaves_a_file_that_is_removed_after_the_grace_period(
    valkyr, store
):
    workspace, never = valkyr.workspace.pk, uuid7()
    grace = timedelta(hours=valkyr_settings().payload_grace_hours)
    put(workspace, never, text_number(1))  # the process dies here, before its row is committed

    assert collecting.collect().checked == 0
    assert len(files_in(store)) == 1
    row = StoredPayload.objects.get()
    StoredPayload.objects.update(checked_at=row.checked_at - grace)
    assert collecting.collect().deleted == 1
    assert not files_in(store)
    assert not StoredPayloadUse.objects.exists()


def test_a_collector_that_died_after_its_mark_is_continued_by_the_next(valkyr, store):
    put(valkyr.workspace.pk, uuid7(), text_number(1))
    collecting._marked(NOW)

    assert collecting.collect(grace=NOW).deleted == 0
    row = StoredPayload.objects.get()
    assert row.deleting_at is not None
    StoredPayload.objects.update(deleting_at=row.deleting_at - collecting.ABANDONED)

    assert collecting.collect(grace=NOW).deleted == 1
    assert not files_in(store)


WAITS = """
schema: valkyr/1
name: waits
tasks: [{id: wait, use: flow.wait_for_event, with: {event: paid}}]
output: "{{ tasks.wait.output.event.text | length }}"
"""


def publish(workspace: Workspace, payload: dict) -> Event:
    return publish_event(workspace, "paid", payload, actor=ACTOR).event


def test_events_published_while_the_collector_removes_equal_payloads_are_readable(valkyr):
    """Each published event has its file; a publication that loses the race is rejected whole."""
    workspace, before = valkyr.workspace, uuid7()

    with silent():
        for number in range(ROUNDS):
            payload = {"text": f"{number:08}" * 1_000}
            put(workspace.pk, before, dump(payload), payload)
            with Rivals() as rivals:
                collector = rivals.begin(collecting.collect, grace=NOW)
                published = [rivals.begin(publish, workspace, payload) for _ in range(2)]
                collector.result(60)
                for one in published:
                    with suppress(PayloadStoreUnavailable):
                        event = one.result(60)
                        assert reading.load(workspace.pk, event.payload) == payload

    assert collecting.collect(grace=NOW).deleted <= ROUNDS
    for event in Event.objects.all():
        assert reading.load(workspace.pk, event.payload)["text"]


def test_the_file_of_an_event_stays_with_the_runs_that_it_woke(valkyr):
    runs = [valkyr.start(WAITS, {}) for _ in range(3)]
    with silent():
        event = publish(valkyr.workspace, {"text": "x" * 8_000})
        with Rivals() as rivals:
            delivered = rivals.begin(events.deliver, event.pk)
            collectors = [rivals.begin(collecting.collect, grace=NOW) for _ in range(3)]
            assert delivered.result(60) == 3
            for collector in collectors:
                collector.result(60)
        event.delete()

    assert collecting.collect(grace=NOW).deleted == 0
    for run in runs:
        assert run.carry().assert_state("SUCCESS").output == 8_000


LISTENS = """
schema: valkyr/1
name: NAME
triggers: [{type: EVENT, event: paid}]
tasks: [{id: only, use: flow.noop}]
"""
KEYED = LISTENS + "settings: {concurrency: {key: one, limit: 1}}\n"


def test_an_event_locks_its_key_before_its_stored_payload(valkyr):
    """As each start does: otherwise two starts with equal payloads may block each other."""
    valkyr.publish(LISTENS.replace("NAME", "first"))
    keyed = valkyr.publish(KEYED.replace("NAME", "second"))
    payload = {"text": "x" * 8_000}
    reference = put(valkyr.workspace.pk, uuid7(), dump(payload), payload)

    with silent(), Rivals() as rivals:
        with transaction.atomic():
            concurrency.lock([concurrency.ConcurrencyKey(keyed.pk, "one")])
            published = rivals.begin(publish, valkyr.workspace, payload)
            wait_until_blocked(my_session())
            writing.keep_each([(uuid7(), reference)], all_there=True)
        event = published.result(60)

    assert [set(each) & {"executionId"} for each in event.started] == [{"executionId"}] * 2
