"""Tests of the archive's guarantees for sealed values, large values, S3 and two archivers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

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
from executions.sealing import payload_keys
from runners.models import Run
from tests.plugins.archive.conftest import files, old
from tests.support import admin_rows
from tests.support.counterparts.aws import aws_server
from tests.support.rivals import Rivals
from valkyr_plugins.archive import archiving, erasing, reading, restoring, storage
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile

pytest.importorskip("pyarrow")
ACTOR = Actor.system("tests")
MARKER = "m4rker-of-a-sealed-value"


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
    StoredPayloadUse.objects.create(payload=row, execution_id=gone.pk)
    archiving.turn()
    pruning.turn()
    grace = collecting.timedelta(0)

    assert collecting.collect(grace=grace).deleted == 0
    erasing.erase([gone.pk], actor=ACTOR)
    assert collecting.collect(grace=grace).deleted == 1


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
    """Run an S3 server; yield its address."""
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
