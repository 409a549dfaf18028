"""In a workspace that seals its payloads, the engine works as usual, and the database holds no
payload.
"""

import base64
import json
from contextlib import suppress
from io import StringIO

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from psycopg.errors import LockNotAvailable
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions.access.actor import Actor
from executions.errors import InvalidPayload
from executions.models import Activity, PayloadKey, WorkflowExecution
from executions.payload_sealing import switch
from executions.payload_sealing.walk import walk
from executions.sealing import SealBroken, WrongInstallationKey, payload_keys, store
from runners.live.feeds import runs_of
from runners.models import Run
from runners.modules.base import Result, StepError
from runners.states import ErrorType
from runners.testing import in_turn
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.support.fleet import database_url
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.whole_database import columns_with
from valkyr_plugins.timetravel.fork import fork

ACTOR = Actor.system("a test")
MARKER = "m4rker-7f3a9c5e1b2d"
EVERYTHING = """
schema: valkyr/1
name: sealed
variables: {seen: none}
tasks:
  - id: first
    use: http.request
    with: {url: "https://bank.example/charges", method: POST, json: "{{ input.order }}"}
  - id: note
    use: flow.set_variables
    after: first
    with: {values: {seen: "{{ tasks.first.output.body.id }}"}}
  - id: each
    use: flow.map
    after: note
    with: {items: "{{ input.list }}"}
    body:
      tasks:
        - id: one
          use: http.request
          with: {url: "https://bank.example/{{ index }}", method: POST, json: "{{ item }}"}
  - id: last
    use: flow.noop
    after: each
    with: {value: "{{ vars.seen }} {{ tasks.each.output[1].body.id }}"}
output: "{{ tasks.last.output }}"
"""


def answer(text: str):
    return {
        "status": 200, "headers": {}, "body": {"id": text}, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip


@pytest.fixture
def valkyr(db):
    payload_keys.forget()
    made = Valkyr()
    payload_keys.make(made.workspace.pk)
    return made


def echo(inputs, context):
    text = f"got {MARKER}"
    context.log.info(text)
    return Result(answer(f"{inputs.json_body}"))


def test_no_payload_of_a_sealed_workspace_is_in_the_database(valkyr):
    payload = {"order": f"order {MARKER}", "list": [f"a {MARKER}", f"b {MARKER}"]}

    run = valkyr.start(EVERYTHING, payload, answers={"http.request": echo})

    run.assert_state("SUCCESS")
    assert run.output == f"order {MARKER} b {MARKER}"
    assert run.variables == {"seen": f"order {MARKER}"}
    assert run.inputs("first")["json"] == f"order {MARKER}"
    assert run.logs("first")[0]["message"] == f"got {MARKER}"
    assert columns_with(MARKER) == []


FAILS = """
schema: valkyr/1
name: fails
tasks:
  - id: charge
    use: http.request
    with: {url: "https://bank.example/charges", method: POST, json: "{{ input.order }}"}
output: "{{ tasks.charge.output.body.id }}"
"""


def fail_once(text: str):
    return in_turn(StepError(f"no money for {text}", ErrorType.PERMANENT), echo)


def test_a_dead_letter_is_sealed_read_and_redriven(valkyr):
    run = valkyr.start(FAILS, {"order": MARKER}, answers={"charge": fail_once(MARKER)})

    run.assert_state("FAILED")
    letter = DeadLetterEntry.objects.get(execution_id=run.id)
    assert letter.original_inputs["json"] == MARKER
    assert letter.failure_reason == f"no money for {MARKER}"
    assert MARKER in run.execution.error_message
    assert Run.objects.get(pk=letter.run_id).error_details["exception"] == "StepError"
    assert columns_with(MARKER) == []

    requeue(letter.pk, actor=ACTOR, overrides={"json": f"other {MARKER}"})

    run.carry().assert_state("SUCCESS")
    assert run.output == f"other {MARKER}"
    assert columns_with(MARKER) == []


def test_new_payloads_are_sealed_after_the_installation_key_was_lost(valkyr, monkeypatch):
    """Follows docs/how-to/operations.md, "Rotate keys"."""
    valkyr.start(FAILS, {"order": MARKER}, answers={"http.request": echo})
    monkeypatch.setenv("VALKYR_KEY", base64.b64encode(b"n" * 32).decode())
    store.forget()
    payload_keys.forget()
    with pytest.raises(WrongInstallationKey):
        valkyr.start(FAILS, {"order": MARKER}, answers={"http.request": echo})

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM executions_keyset")
    call_command("payload_keys", "rotate", valkyr.workspace.slug, stdout=StringIO())

    run = valkyr.start(FAILS, {"order": MARKER}, answers={"http.request": echo})
    run.assert_state("SUCCESS")
    assert run.output == MARKER
    assert columns_with(MARKER) == []


def test_equal_failures_still_form_one_group(valkyr):
    broke = StepError(f"no money for {MARKER}", ErrorType.PERMANENT)

    for _ in range(2):
        valkyr.start(FAILS, {"order": MARKER}, answers={"charge": broke})

    [one, other] = DeadLetterEntry.objects.all()
    assert one.group_id == other.group_id
    assert str(one.group) == "charge.main: StepError"


LISTENS = {
    "name": "listens",
    "input": {"type": "object"},
    "tasks": [
        {
            "id": "paid",
            "use": "flow.wait_for_event",
            "with": {"event": "paid", "filter": "{{ event.of == input.order }}"},
        },
        {"id": "called", "use": "flow.callback", "after": "paid:success"},
        {
            "id": "review",
            "use": "flow.approval",
            "after": "called:success",
            "with": {"title": "{{ input.order }}"},
        },
        {
            "id": "child",
            "use": "flow.subworkflow",
            "after": "review:approved",
            "with": {"workflow": "fails", "input": {"order": "{{ input.order }}"}},
        },
    ],
    "output": "{{ tasks.child.output.output }}",
}


def test_what_waits_receive_is_sealed(valkyr):
    valkyr.publish(FAILS)
    run = valkyr.start(LISTENS, {"order": MARKER}, answers={"charge": echo})

    run.send_event("paid", {"of": "another", "secret": MARKER}).assert_state("RUNNING")
    run.send_event("paid", {"of": MARKER})
    run.call_back("called", {"card": MARKER})
    assert run.waits == {"review.main": "approval"}
    run.approve("review", comment="well")

    run.assert_state("SUCCESS")
    assert run.outputs("paid")["event"] == {"of": MARKER}
    assert run.outputs("called")["payload"] == {"card": MARKER}
    assert run.outputs("review")["comment"] == "well"
    assert run.output == MARKER
    assert columns_with(MARKER) == []


def test_a_fork_reads_the_past_of_its_origin(valkyr):
    payload = {"order": f"order {MARKER}", "list": [f"a {MARKER}", f"b {MARKER}"]}
    run = valkyr.start(EVERYTHING, payload, answers={"http.request": echo})

    made = fork(run.id, step_path="last.main", actor=ACTOR)

    forked = WorkflowRun(made.pk, {"http.request": echo}).carry().assert_state("SUCCESS")
    assert forked.output == run.output
    assert forked.inputs("first") == run.inputs("first")
    assert columns_with(MARKER) == []


def raw(row, column):
    with connection.cursor() as cursor:
        table = row._meta.db_table
        cursor.execute(f"SELECT {column}::text FROM {table} WHERE id = %s", [row.pk])
        return cursor.fetchone()[0]


def put(row, column, text):
    kind = "text" if column == "error" else "jsonb"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {row._meta.db_table} SET {column} = %s::{kind} WHERE id = %s", [text, row.pk]
        )


def test_an_envelope_opens_in_its_own_row_and_column_only(valkyr):
    one = valkyr.start(FAILS, {"order": "one"}, answers={"charge": echo})
    other = valkyr.start(FAILS, {"order": "other"}, answers={"charge": echo})
    mine = Run.objects.get(execution_id=one.id)
    theirs = Run.objects.get(execution_id=other.id)

    put(theirs, "outputs", raw(mine, "outputs"))
    put(mine, "outputs", raw(mine, "inputs"))

    for run in (mine, theirs):
        with pytest.raises(SealBroken):
            _ = Run.objects.get(pk=run.pk).outputs
    assert Run.objects.get(pk=mine.pk).inputs["json"] == "one"


def test_a_step_whose_data_does_not_open_becomes_a_dead_letter(valkyr):
    valkyr.publish(FAILS)
    other = valkyr.start(FAILS, {"order": MARKER}, answers={"charge": echo})
    run = valkyr.start(LISTENS, {"order": MARKER}, answers={"charge": echo})
    run.send_event("paid", {"of": MARKER})
    put(run.execution, "trigger_payload", raw(other.execution, "trigger_payload"))

    run.call_back("called", {"card": MARKER})

    run.assert_state("FAILED")
    [reason] = run.dead_letters.values()
    assert "cannot be opened: it was changed, or belongs to another row" in reason


def test_old_values_open_after_a_new_key_seals(valkyr):
    before = valkyr.start(FAILS, {"order": "old"}, answers={"charge": echo})
    old = raw(before.execution, "output")
    key = payload_keys.make(valkyr.workspace.pk)
    payload_keys.forget()

    after = valkyr.start(FAILS, {"order": "new"}, answers={"charge": echo})

    assert raw(after.execution, "output").startswith(f'{{"$sealed": "{key}.')
    assert (before.output, after.output) == ("old", "new")
    assert raw(before.execution, "output") == old


def test_another_workspace_is_as_before(valkyr):
    payload_keys.stop(valkyr.workspace.pk)

    run = valkyr.start(FAILS, {"order": MARKER}, answers={"charge": echo})

    assert raw(run.execution, "output") == f'"{MARKER}"'
    assert WorkflowExecution.objects.filter(output=MARKER).exists()


def test_a_payload_that_looks_sealed_is_refused(db):
    with pytest.raises(InvalidPayload, match="reserved for sealed"):
        Valkyr().start(FAILS, {"$sealed": "1.AAAA"})


def everything(valkyr):
    """Create an execution with results, a dead letter, and an execution that waits."""
    broke = {"charge": StepError(f"no money for {MARKER}", ErrorType.PERMANENT)}
    payload = {"order": f"order {MARKER}", "list": [f"a {MARKER}", f"b {MARKER}"]}
    done = valkyr.start(EVERYTHING, payload, answers={"http.request": echo})
    dead = valkyr.start(FAILS, {"order": MARKER}, answers=broke)
    waits = valkyr.start(LISTENS, {"order": MARKER}, answers={"charge": echo})
    waits.send_event("paid", {"of": MARKER}).call_back("called", {"card": MARKER})
    return done, dead, waits


def test_what_is_stored_is_sealed_with_the_first_key_the_next_key_and_opened_again(db):
    valkyr, out = Valkyr(), StringIO()
    slug = valkyr.workspace.slug
    done, _, waits = everything(valkyr)
    clear = columns_with(MARKER)
    assert {"runners_run.inputs", "dlq_failuregroup.sample"} < set(clear)

    call_command("payload_keys", "on", slug, stdout=out)
    assert f"`manage.py payload_keys reseal {slug}`" in out.getvalue()
    call_command("payload_keys", "reseal", slug, stdout=out)
    assert f"`manage.py payload_keys retire {slug}`" in out.getvalue()
    assert columns_with(MARKER) == []
    assert done.output == f"order {MARKER} b {MARKER}"
    assert done.logs("first")[0]["message"] == f"got {MARKER}"
    assert DeadLetterEntry.objects.get().original_inputs["json"] == MARKER

    first = payload_keys.current(valkyr.workspace.pk)
    call_command("payload_keys", "rotate", slug, stdout=out)
    with pytest.raises(CommandError, match="payload_keys reseal"):
        call_command("payload_keys", "retire", slug, stdout=out)
    call_command("payload_keys", "reseal", slug, stdout=out)
    call_command("payload_keys", "retire", slug, stdout=out)
    assert f"Removed {first}." in out.getvalue()
    assert done.inputs("first")["json"] == f"order {MARKER}"
    assert waits.approve("review").assert_state("SUCCESS").output == MARKER

    call_command("payload_keys", "off", slug, stdout=out)
    call_command("payload_keys", "reseal", slug, stdout=out)
    call_command("payload_keys", "retire", slug, stdout=out)
    assert columns_with("$sealed") == []
    assert done.output == f"order {MARKER} b {MARKER}"
    assert not PayloadKey.objects.exists()
    for action in ("reseal", "retire"):
        with pytest.raises(CommandError, match="has no payload keys: its payloads are stored"):
            call_command("payload_keys", action, slug, stdout=out)
    actions = Activity.objects.filter(action__startswith="payloads.").values_list(
        "action", flat=True
    )
    assert set(actions) == {
        "payloads.seal", "payloads.rotate", "payloads.open", "payloads.reseal", "payloads.retire",
    }  # fmt: skip


def test_a_walk_that_was_stopped_goes_on_where_it_was(db, monkeypatch):
    valkyr = Valkyr()
    monkeypatch.setattr("executions.payload_sealing.walk.BATCH", 2)
    everything(valkyr)
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)

    def stop(found):
        if found.changed > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        walk(valkyr.workspace.pk, tell=stop)
    again = walk(valkyr.workspace.pk)

    assert again.changed > 0
    assert columns_with(MARKER) == []
    whole = walk(valkyr.workspace.pk)
    assert whole.changed == 0
    assert again.read < whole.read


def test_a_batch_is_written_by_one_statement(db):
    valkyr = Valkyr()
    for number in range(4):
        valkyr.start(FAILS, {"order": f"{MARKER} {number}"}, answers={"charge": echo})
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)

    with CaptureQueriesContext(connection) as asked:
        found = walk(valkyr.workspace.pk)

    written = [q["sql"] for q in asked.captured_queries if 'UPDATE "runners_run"' in q["sql"]]
    assert len(written) == 1
    assert found.changed >= 8
    assert columns_with(MARKER) == []


def test_a_batch_of_large_rows_is_read_in_parts(db, monkeypatch):
    valkyr = Valkyr()
    everything(valkyr)
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)
    monkeypatch.setattr("executions.payload_sealing.walk.MOST_READ", 1)
    read = []

    found = walk(valkyr.workspace.pk, tell=lambda so_far: read.append(so_far.read))

    assert read == list(range(1, found.read + 1)), "a row each"
    assert found.read >= 8
    assert columns_with(MARKER) == []


def test_a_large_batch_is_written_in_parts(db, monkeypatch):
    valkyr = Valkyr()
    monkeypatch.setattr("executions.payload_sealing.walk.MOST_WRITTEN", 1_000)
    everything(valkyr)
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)

    found = walk(valkyr.workspace.pk)

    assert found.broken == 0
    assert columns_with(MARKER) == []
    assert walk(valkyr.workspace.pk).changed == 0


@pytest.mark.django_db(transaction=True)
def test_a_walk_passes_over_locked_rows_and_writes_them_later():
    valkyr = Valkyr()
    runs = [
        valkyr.start(FAILS, {"order": f"{MARKER} {number}"}, answers={"charge": echo})
        for number in range(3)
    ]
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)
    rows = "UPDATE runners_run SET logs = %s WHERE execution_id = %s"
    said = json.dumps([{"ms": 1, "level": "info", "message": MARKER}])
    with Rivals() as rivals:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(rows, [said, runs[1].id])
            walking = rivals.begin(walk, valkyr.workspace.pk)
            wait_until_blocked(my_session())
            free = [run for run in runs if run is not runs[1]]
            sealed = [raw(Run.objects.get(execution_id=run.id), "inputs") for run in free]
        walking.result(60)

    assert all("$sealed" in text for text in sealed)
    assert runs[1].logs("charge")[0]["message"] == MARKER
    assert columns_with(MARKER) == []


@pytest.mark.django_db(transaction=True)
def test_a_walk_seals_a_row_that_changes_between_each_read_and_write():
    valkyr = Valkyr()
    run = valkyr.start(FAILS, {"order": MARKER}, answers={"charge": echo})
    switch.turn_on(valkyr.workspace.pk, actor=ACTOR)
    changes = []

    def change_first(execute, sql, params, many, context):
        if 'UPDATE "runners_run" t SET' in sql:
            with suppress(LockNotAvailable):
                other.execute(
                    "UPDATE runners_run SET outputs = outputs WHERE execution_id = %s", [run.id]
                )
                changes.append(run.id)
        return execute(sql, params, many, context)

    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SET lock_timeout = '100ms'")
        with connection.execute_wrapper(change_first):
            found = walk(valkyr.workspace.pk)

    assert len(changes) > 5, "the row was changed before each write without a lock"
    assert found.broken == 0
    assert columns_with(MARKER) == []


def test_a_search_of_sealed_payloads_is_refused_with_the_reason(valkyr, admin_user):
    broke = {"charge": StepError(f"no money for {MARKER}", ErrorType.PERMANENT)}
    valkyr.start(FAILS, {"order": MARKER}, answers=broke)
    api = APIClient()
    api.force_authenticate(admin_user)
    listed = api.get(reverse("valkyr-dead-letters"))
    assert [row["failureReason"] for row in listed.json()] == [f"no money for {MARKER}"]

    for query in ({"inputs": '[{"path": "json", "op": "eq", "value": "x"}]'}, {"text": "money"}):
        refused = api.get(reverse("valkyr-dead-letters"), query)
        assert refused.status_code == 400
        assert refused.json()["code"] == "payloads_sealed"
        assert "are sealed" in refused.json()["detail"]


@pytest.mark.usefixtures("static_files")
def test_pages_and_answers_show_opened_payloads(valkyr, admin_user, client):
    broke = {"charge": StepError(f"no money for {MARKER}", ErrorType.PERMANENT)}
    run = valkyr.start(FAILS, {"order": MARKER}, answers=broke)
    letter = DeadLetterEntry.objects.get()
    api = APIClient()
    api.force_authenticate(admin_user)
    client.force_login(admin_user)

    entry = api.get(reverse("valkyr-dead-letter", args=[letter.pk])).json()
    page = client.get(reverse("admin:dlq_deadletterentry_change", args=[letter.pk]))
    [watched] = runs_of(run.id)

    assert entry["originalInputs"]["json"] == MARKER
    assert MARKER in page.content.decode()
    assert watched["error"] == f"no money for {MARKER}"
    for text in (page.content.decode(), str(entry), str(watched)):
        assert "$sealed" not in text
