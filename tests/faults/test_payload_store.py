"""Real workers store large outputs in a folder and in S3, even if some workers are killed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import credentials
from executions.credentials.kinds import NameTaken
from executions.models import StoredPayload, WorkflowExecution
from executions.payloads import STORED
from executions.sealing import payload_keys
from executions.triggers.event import publish_event
from runners.models import Run
from tests.support.auditor import audit
from tests.support.counterparts.aws import aws_server
from tests.support.counterparts.large_csv import HEADER, ROW, csv_server
from tests.support.fleet import QUICK, Fleet, Member, publishing_to
from tests.support.folders import passable_folder
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    describe,
    effect,
    publish,
    start_many,
    task,
    wait_for_end,
)
from valkyr_project.embedded import Redis

TEXT = "x" * 1_000_000  # an input has at most 1 MiB
BUCKET = "payloads"
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")
# The output of the first step is unique, because its input is.
TASKS = {
    "tasks": [
        task("copy", **{"with": {"value": "{{ input }}"}}),
        effect("read", after="copy", value="{{ tasks.copy.output.text | length }}"),
    ],
    "output": "{{ tasks.copy.output }}",
}
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIATEST",
    "AWS_SECRET_ACCESS_KEY": "very-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Run a server that speaks S3's protocol, with a bucket."""
    with aws_server() as address:
        _client(address).create_bucket(Bucket=BUCKET)
        yield address


def _client(address: str) -> Any:
    return boto3.session.Session().client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.fixture
def storing(whole_fleet: Fleet, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """Run a fleet with a payload store and its own Redis.

    The folder's fleet is stopped until the next test needs it: without a payload store, its workers
    would take over steps of a killed worker, as both fleets share the database.
    """
    whole_fleet.stop()
    kind = request.param
    store = {"VALKYR_PAYLOAD_STORE": f"file://{tmp_path}/payloads"}
    if kind == "s3":
        address = request.getfixturevalue("s3")
        store = KEYS | {
            "VALKYR_PAYLOAD_STORE": f"s3://{BUCKET}/test",
            "AWS_ENDPOINT_URL_S3": address,
            "VALKYR_S3_ENDPOINT": address,
        }
    with passable_folder() as home:
        server = Redis(home, durable=False)
        server.start()
        fleet = Fleet(tmp_path, server.url, {**QUICK, **store})
        try:
            with publishing_to(server.url):
                fleet.few(io=True)
                fleet.ensure()
                yield fleet
        finally:
            fleet.stop()
            server.stop()


@pytest.mark.parametrize("storing", ["folder", "s3"], indirect=True)
def test_a_worker_that_is_killed_while_it_stores_loses_no_output(storing: Fleet) -> None:
    workflow = publish(TASKS)
    ids = start_many(workflow, [{"n": n, "text": TEXT} for n in range(20)])
    wait_until(lambda: StoredPayload.objects.count() >= 3, 60, "the first stored values")

    storing["default"].kill()
    storing.ensure()

    ended = wait_for_end(ids, 100)
    assert set(ended.values()) == {"SUCCESS"}, describe(
        [pk for pk, state in ended.items() if state != "SUCCESS"]
    )
    assert not audit(ids).problems
    outputs = WorkflowExecution.objects.filter(pk__in=ids).values_list("output", flat=True)
    assert all(output[STORED] and output["bytes"] > len(TEXT) for output in outputs)


class Peaks:
    """The memory of workers' children since the creation of this object, in MiB; for a worker of
    threads, its own.
    """

    def __init__(self, *workers: Member) -> None:
        self.begin = {}
        for child in [pid for worker in workers for pid in worker.children or [worker.pid]]:
            Path(f"/proc/{child}/clear_refs").write_text("5")
            self.begin[child] = self._of(child)

    @property
    def growth(self) -> float:
        """Return the largest growth of a child's peak."""
        return max(self._grown())

    def __str__(self) -> str:
        return ", ".join(f"{grown:.1f}" for grown in self._grown())

    def _grown(self) -> list[float]:
        return [self._of(child) - before for child, before in self.begin.items()]

    @staticmethod
    def _of(child: int) -> float:
        found = PEAK.search(Path(f"/proc/{child}/status").read_text())
        assert found
        return int(found[1]) / 1024


@pytest.mark.parametrize("storing", ["folder", "s3"], indirect=True)
def test_the_store_adds_little_memory_to_a_large_output(storing: Fleet) -> None:
    """The store adds little memory to a large output.

    The module's text has 60 MiB; its JSON is stored in parts.
    """
    large, small = (
        publish({"tasks": [task("large", use="test.large", **{"with": {"mebibytes": size}})]})
        for size in (60, 6)
    )
    assert set(wait_for_end(start_many(small, [{}] * 8), 60).values()) == {"SUCCESS"}
    peaks = Peaks(storing["default"])

    ids = start_many(large, [{}])

    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}, describe(ids)
    assert StoredPayload.objects.filter(size__gt=60 * 2**20).exists()
    print(f"growth {peaks} MiB, of which the text has 60")
    assert peaks.growth - 60 < 16


def streaming(address: str, target: str) -> dict[str, Any]:
    """Return a workflow that passes a CSV from a server to a file and to its rows."""
    more = {"credential": "archive_key"} if target.startswith("s3:") else {}
    body = {"tasks": [task("rows", "data.csv_parse", **{"with": {"batch": "{{ item }}"}})]}
    size = 10 * 2**30
    return {
        "tasks": [
            task("get", "http.request", timeoutSeconds=300, **{"with": {
                "url": f"{address}/{{{{ input.rows }}}}", "store": True, "maxBytes": size}}),
            task("put", "file.write", "get", timeoutSeconds=300, **more, **{"with": {
                "path": target, "content": "{{ tasks.get.output.body }}"}}),
            task("read", "file.read", "put", timeoutSeconds=300, **more, **{"with": {
                "path": target, "store": True, "maxBytes": size}}),
            task("split", "data.csv_parse", "read", timeoutSeconds=300, **{"with": {
                "stored": "{{ tasks.read.output.content }}", "batchSize": 100_000}}),
            task("each", "flow.map", "split", body=body, **{"with": {
                "items": "{{ tasks.split.output.batches }}", "maxConcurrency": 2}}),
        ],
        "output": "{{ tasks.split.output.count }}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("storing", "sealed"), [("folder", False), ("s3", True)], indirect=["storing"]
)
def test_a_response_streams_through_a_file_to_its_rows(storing: Fleet, sealed: bool) -> None:
    target = "{{ execution.id }}.csv"
    if "AWS_ENDPOINT_URL_S3" in storing.environment:
        target = f"s3://{BUCKET}/files/{target}"
        with suppress(NameTaken):
            credentials.create(
                default_workspace(), name="archive_key", type="s3", hosts=["127.0.0.1"],
                actor=ACTOR, fields={"access_key": "AKIATEST", "secret_key": "very-secret"},
            )  # fmt: skip
    with csv_server() as address:
        workflow = publish(streaming(address, target))
        if sealed:
            payload_keys.make(workflow.workspace_id)
        small, large = 5_000, 65_536
        ids = start_many(workflow, [{"rows": small}] * 4)
        assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}, describe(ids)
        peaks = Peaks(storing["default"], storing["io"])

        ids = start_many(workflow, [{"rows": large}])

        assert set(wait_for_end(ids, 200).values()) == {"SUCCESS"}, describe(ids)
    assert WorkflowExecution.objects.get(pk__in=ids).output == large
    got = Run.objects.get(execution_id__in=ids, step_path="get.main").outputs["body"]
    assert (got["type"], got["bytes"]) == ("bytes", len(HEADER) + large * ROW)
    read = Run.objects.get(execution_id__in=ids, step_path="read.main").outputs["content"]
    assert read["digest"] == got["digest"]
    print(f"growth {peaks} MiB with a response of 64 MiB")
    assert peaks.growth < 16


def _store_of(storing: Fleet, settings: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let this process use the fleet's store; return a part that makes its payloads unique.

    A store of another test has the files of equal payloads.
    """
    for name in (*KEYS, "AWS_ENDPOINT_URL_S3"):
        if name in storing.environment:
            monkeypatch.setenv(name, storing.environment[name])
    store = storing.environment["VALKYR_PAYLOAD_STORE"]
    settings.VALKYR = settings.VALKYR | {
        "PAYLOAD_STORE": store,
        "PAYLOAD_START_LIMIT": 64 * 2**20,
    }
    return {"store": store}


@pytest.mark.parametrize("storing", ["folder", "s3"], indirect=True)
def test_a_large_payload_passes_through_killed_workers_unread(
    storing: Fleet, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payload of 40 MiB, above the load limit, passes from the start to a child and to the
    output.
    """
    own = _store_of(storing, settings, monkeypatch)
    passed = task("copy", timeoutSeconds=60, **{"with": {"value": "{{ input }}"}})
    child = publish({"tasks": [passed], "output": "{{ tasks.copy.output }}"})
    call = {"workflow": child.slug, "input": "{{ tasks.copy.output }}"}
    parent = publish(
        {
            "tasks": [passed, task("call", "flow.subworkflow", "copy", **{"with": call})],
            "output": "{{ tasks.call.output.output }}",
        }
    )
    assert set(wait_for_end(start_many(parent, [{"n": 1}] * 8), 60).values()) == {"SUCCESS"}
    peaks = Peaks(storing["default"])

    ids = start_many(parent, [own | {"n": n, "text": "x" * 40 * 2**20} for n in range(2)])
    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}, describe(ids)
    growth = peaks.growth
    print(f"growth {peaks} MiB with two payloads of 40 MiB")
    later = start_many(parent, [own | {"n": n, "text": TEXT} for n in range(20)])
    wait_until(
        lambda: Run.objects.filter(execution_id__in=later, state="SUCCESS").exists(),
        60,
        "the first steps",
        lambda: describe(later),
    )
    storing["default"].kill()
    storing.ensure()
    assert set(wait_for_end(later, 100).values()) == {"SUCCESS"}, describe(later)

    for execution in WorkflowExecution.objects.filter(pk__in=[*ids, *later]):
        payload = execution.trigger_payload[STORED]
        child_run = WorkflowExecution.objects.get(parent=execution)
        assert child_run.trigger_payload[STORED] == payload
        assert child_run.output[STORED] == payload
    # A part of an output that can be loaded is a value; one above the limit remains a reference.
    outputs = WorkflowExecution.objects.in_bulk([*ids, *later])
    assert all(outputs[pk].output[STORED] == outputs[pk].trigger_payload[STORED] for pk in ids)
    assert all(outputs[pk].output == own | {"n": n, "text": TEXT} for n, pk in enumerate(later))
    assert not audit(later).problems
    assert growth < 16


@pytest.mark.parametrize("storing", ["s3"], indirect=True)
def test_killed_workers_read_the_items_of_a_stored_list(storing: Fleet) -> None:
    """Bodies with effects read their items from four blocks."""
    length = "{{ item.text | length + item.number }}"
    body = {"tasks": [effect("read", value=length)]}
    rows = "{{ tasks.copy.output.rows }}"
    workflow = publish(
        {
            "tasks": [
                task("copy", **{"with": {"value": "{{ input }}"}}),
                task("each", "flow.map", "copy", body=body, **{"with": {"items": rows}}),
            ],
            "output": "{{ tasks.each.output }}",
        }
    )
    # A store of another test has the files of equal lists.
    own = storing.environment["VALKYR_PAYLOAD_STORE"]
    given = [{"number": n, "text": TEXT[:40_000], "store": own} for n in range(24)]
    ids = start_many(workflow, [{"n": n, "rows": given} for n in range(3)])
    mapped = Run.objects.filter(execution_id__in=ids, step_path__startswith="each[")
    wait_until(
        lambda: mapped.filter(state="SUCCESS").exists(),
        100,
        "the first items",
        lambda: describe(ids),
    )

    storing["default"].kill()
    storing.ensure()

    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}, describe(ids)
    assert mapped.filter(state="SUCCESS", outputs__isnull=False).count() == 3 * 24
    for each in Run.objects.filter(execution_id__in=ids, step_path="each.main"):
        assert each.inputs["items"][STORED]
        assert each.outputs == [40_000 + n for n in range(24)]


@pytest.mark.parametrize("storing", ["folder"], indirect=True)
def test_killed_workers_receive_a_stored_event_and_stored_changes(
    storing: Fleet, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event of 1 MB wakes each execution once, and a dead letter is requeued with 1 MB."""
    own = _store_of(storing, settings, monkeypatch)
    length = "{{ tasks.wait.output.event.text | length }}"
    paid = "{{ event.text | length > 5 and event.paid }}"
    read = effect("read", after="wait:success", value=length, failTimes=1, errorType="PERMANENT")
    workflow = publish(
        {
            "tasks": [
                task("wait", "flow.wait_for_event", **{"with": {"event": "paid", "filter": paid}}),
                read,
            ],
            "output": "{{ tasks.read.output }}",
        }
    )
    ids = start_many(workflow, [{"n": n} for n in range(6)])
    runs = Run.objects.filter(execution_id__in=ids)
    waiting = runs.filter(state="WAITING")
    wait_until(lambda: waiting.count() == 6, 60, "the waits", lambda: describe(ids))

    payload = own | {"text": TEXT, "paid": True}
    event = publish_event(default_workspace(), "paid", payload, actor=ACTOR).event
    storing["default"].kill()
    storing.ensure()
    letters = DeadLetterEntry.objects.filter(execution_id__in=ids)
    wait_until(lambda: letters.count() == 6, 100, "the dead letters", lambda: describe(ids))
    for letter in letters:
        requeue(letter.pk, actor=ACTOR, overrides={"value": own | {"changed": TEXT}})
    storing["default"].kill()
    storing.ensure()

    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}, describe(ids)
    assert event.payload[STORED]
    woken = runs.filter(step_path="wait.main")
    assert [run.wake["payload"] for run in woken] == [event.payload] * 6
    again = runs.filter(step_path="read.main", attempt=2)
    assert len({run.overrides["inputs"][STORED] for run in again}) == 1
    assert all(execution.output["bytes"] > len(TEXT) for execution in _executions(ids))
    assert not audit(ids).problems


def _executions(ids: list[Any]) -> Any:
    return WorkflowExecution.objects.filter(pk__in=ids)


@pytest.mark.parametrize("storing", ["folder"], indirect=True)
def test_stored_outputs_leave_the_workers_memory_flat(storing: Fleet) -> None:
    workflow = publish(TASKS)

    def run(number: int) -> int:
        ids = start_many(workflow, [{"n": n, "text": TEXT} for n in range(number, number + 20)])
        assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}
        return max(psutil.Process(pid).memory_info().rss for pid in storing["default"].children)

    run(0)
    before = run(100)
    after = max(run(200), run(300), run(400))

    assert after - before < 24 * len(TEXT)
