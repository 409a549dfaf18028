"""SIGKILL at each point of a turn loses no execution, stores none twice, and leaves no file."""

import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from dlq.retention import pruning
from executions.database.advisory_locks import AdvisoryLock, alone
from executions.models import WorkflowExecution
from runners.models import Run
from tests.plugins.archive.conftest import files, old
from tests.support import admin_rows
from tests.support.fleet import database_url
from tests.support.stack import PROJECT
from tests.support.stopped_archiver import POINTS
from tests.support.waiting import wait_until
from valkyr_plugins.archive import archiving, reading, work_folder
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState

pytest.importorskip("pyarrow")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new temporary folder of this process and of the killed one."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(work_folder, "LOCKED_AFTER", 0)
    return folder


def kill_at(point: str, archive: Path, temporary: Path) -> None:
    """Archive in another process, and kill it once it has reached the point."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.stopped_archiver", point],
        cwd=PROJECT,
        env=os.environ
        | {
            "DATABASE_URL": database_url(),
            "VALKYR_ARCHIVE": f"file://{archive}",
            "TMPDIR": str(temporary),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        reached = process.stdout.readline().strip()
        process.kill()
        assert reached == point, process.stderr.read()[-3000:]
    # PostgreSQL rolls back and unlocks as soon as it notices.
    wait_until(_nobody_archives, what="the end of the killed process's session")


def _nobody_archives() -> bool:
    with alone(AdvisoryLock.ARCHIVE) as held:
        return held


def readable(found: set[UUID]) -> dict[UUID, Any]:
    """Return the outputs of executions in the tables or in the archive."""
    there = dict(WorkflowExecution.objects.filter(pk__in=found).values_list("pk", "output"))
    return there | {pk: reading.load(pk).execution.output for pk in found - set(there)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("point", POINTS)
def test_a_turn_after_a_kill_completes_the_archive(
    archive: Path, temporary: Path, point: str
) -> None:
    orders = admin_rows.workflow()
    before, reopened = old(orders), old(orders)
    archiving.turn()
    later = timezone.now() - timedelta(days=39)
    WorkflowExecution.objects.filter(pk=reopened.pk).update(finished_at=later, output={"sum": 8})
    outputs = {before.pk: {"sum": 7}, reopened.pk: {"sum": 8}}
    outputs |= {old(orders, 39).pk: {"sum": 7} for _ in range(3)}

    kill_at(point, archive, temporary)
    pruning.turn()
    assert readable(set(outputs)) == outputs
    archiving.turn()
    pruning.turn()

    assert not WorkflowExecution.objects.exists()
    assert not Run.objects.exists()
    assert {pk: reading.load(pk).execution.output for pk in outputs} == outputs
    assert all(len(reading.load(pk).runs) == 2 for pk in outputs)
    stored = list(ArchiveFile.objects.all())
    assert {file.state for file in stored} == {FileState.STORED}
    assert sum(file.executions for file in stored) == len(outputs)
    assert ArchivedExecution.objects.count() == len(outputs)
    assert files(archive) == sorted(archive / file.name for file in stored)
    assert not list(temporary.iterdir())


def test_the_folder_of_a_living_process_stays(temporary: Path) -> None:
    with work_folder.work_folder() as folder:
        (folder / "part.parquet").write_bytes(b"a")

        work_folder.remove_abandoned()

        assert (folder / "part.parquet").read_bytes() == b"a"
    assert not list(temporary.iterdir())


def test_a_young_folder_may_not_be_locked_yet(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_folder, "LOCKED_AFTER", 60)
    folder = temporary / f"{work_folder.PREFIX}new"
    folder.mkdir()

    work_folder.remove_abandoned()
    assert folder.exists()
    os.utime(folder, (0, 0))
    work_folder.remove_abandoned()

    assert not folder.exists()
