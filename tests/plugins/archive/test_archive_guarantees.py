"""Guarantees in addition to the archive itself: sealed values, large values, S3, two archivers."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.utils import timezone

from dlq.retention import pruning
from executions.access.actor import Actor
from executions.errors import WrongState
from executions.models import (
    PayloadKey,
    StoredPayload,
    StoredPayloadUse,
    Workflow,
    WorkflowExecution,
)
from executions.payload_sealing import switch
from executions.payload_store import collecting
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.models import Run
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from tests.plugins.archive.conftest import files, old
from tests.support import admin_rows
from tests.support.counterparts.aws import aws_server
from tests.support.payload_store import TEXT, use_store
from tests.support.rivals import Rivals
from valkyr_plugins.archive import archiving, erasing, reading, restoring, storage
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile
from valkyr_plugins.timetravel.fork import replay

pytest.importorskip("pyarrow")
ACTOR = Actor.system("tests")
MARKER = "m4rker-of-a-sealed-value"
LENGTH = """
schema: valkyr/1
name: length
tasks: [{id: read, use: flow.noop, with: {value: "{{ input.text | length }}"}}]
output: "{{ tasks.read.output }}"
"""


@pytest.mark.django_db
def test_sealed_values_stay_sealed_and_keep_their_key(archive: Path, orders: Workflow) -> None:
    payload_keys.forget()
    switch.turn_on(orders.workspace_id, actor=ACTOR)
    gone = old(orders, output={"secret": MARKER})
    archiving.turn()
    pruning.turn()
    assert not WorkflowExecution.objects.exists()

    [file] = files(archive)
    assert MARKER not in str(reading.load(gone.pk).row)
    assert MARKER.encode() not in file.read_bytes()
    assert reading.load(gone.pk).execution.output == {"secret": MARKER}
    assert len(ArchiveFile.objects.get().keys) == 1
    switch.rotate(orders.workspace_id, actor=ACTOR)
    switch.reseal(orders.workspace_id, actor=ACTOR)
    with pytest.raises(WrongState, match="archive"):
        switch.remove_old_keys(orders.workspace_id, actor=ACTOR)

    assert PayloadKey.objects.count() == 2
    assert restoring.restore(gone.pk, actor=ACTOR).output == {"secret": MARKER}
    erasing.erase([gone.pk], actor=ACTOR)
    switch.reseal(orders.workspace_id, actor=ACTOR)
    assert len(switch.remove_old_keys(orders.workspace_id, actor=ACTOR)) == 1


@pytest.mark.django_db
def test_large_values_stay_while_a_file_refers_to_them(
    archive: Path, orders: Workflow, settings: Any, tmp_path: Path
) -> None:
    settings.VALKYR = {**settings.VALKYR, "PAYLOAD_STORE": f"file://{tmp_path}/payloads"}
    gone = old(orders)
    row = StoredPayload.objects.create(
        workspace_id=orders.workspace_id, digest="d" * 64, size=1_000_000
    )
    StoredPayloadUse.objects.create(payload=row, holder_id=gone.pk)
    archiving.turn()
    pruning.turn()
    grace = collecting.timedelta(0)

    assert collecting.collect(grace=grace).deleted == 0
    erasing.erase([gone.pk], actor=ACTOR)
    assert collecting.collect(grace=grace).deleted == 1


@pytest.mark.django_db(transaction=True)
def test_an_archived_execution_keeps_its_stored_payload_and_is_replayed_with_it(
    archive: Path, settings: Any, tmp_path: Path
) -> None:
    use_store(settings, tmp_path)
    payload_keys.forget()
    run = Valkyr().start(LENGTH, {"text": TEXT}).assert_state("SUCCESS")
    given = run.execution.trigger_payload
    assert given[STORED]
    at = timezone.now() - timedelta(days=40)
    WorkflowExecution.objects.update(created_at=at, started_at=at, finished_at=at)
    archiving.turn()
    pruning.turn()
    assert not WorkflowExecution.objects.exists()

    assert collecting.collect(grace=collecting.timedelta(0)).deleted == 0
    assert reading.load(run.id).execution.trigger_payload == given
    restoring.restore(run.id, actor=ACTOR)
    made = replay(run.id, actor=ACTOR)

    again = WorkflowRun(made.pk, {}).carry().assert_state("SUCCESS")
    assert again.output == 20_000
    assert again.execution.trigger_payload == given


@pytest.mark.django_db(transaction=True)
def test_two_archivers_at_once_write_each_execution_once(archive: Path) -> None:
    orders = admin_rows.workflow()
    gone = {old(orders, 40 + number % 3).pk for number in range(30)}

    with Rivals(2) as rivals:
        turns = [rivals.begin(archiving.turn) for _ in range(2)]
        done = [turn.result(60) for turn in turns]

    archiving.turn()
    assert sum(one.executions for one in done) == len(gone)
    assert set(ArchivedExecution.objects.values_list("pk", flat=True)) == gone
    assert sum(ArchiveFile.objects.values_list("executions", flat=True)) == len(gone)
    assert len(files(archive)) == ArchiveFile.objects.count() == 3
    pruning.turn()
    assert not WorkflowExecution.objects.exists()
    assert not Run.objects.exists()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a local S3 server; yield its address."""
    with aws_server() as url:
        yield url


@pytest.mark.django_db
def test_s3_is_an_archive(
    address: str, orders: Workflow, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "very-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    client = boto3.session.Session().client("s3")
    client.create_bucket(Bucket="history")
    settings.VALKYR = {**getattr(settings, "VALKYR", {}), "ARCHIVE": "s3://history/valkyr"}
    storage.probe()
    erased, kept = old(orders), old(orders)

    archiving.turn()
    pruning.turn()
    assert not WorkflowExecution.objects.exists()
    assert reading.load(kept.pk).execution.output == {"sum": 7}
    erasing.erase([erased.pk], actor=ACTOR)

    assert reading.find(erased.pk) is None
    assert reading.load(kept.pk).execution.output == {"sum": 7}
    assert not list(erasing.broken())
    [one] = client.list_objects_v2(Bucket="history")["Contents"]
    assert one["Key"] == f"valkyr/{ArchiveFile.objects.get().name}"
    client.close()
