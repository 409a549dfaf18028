"""Executions are archived before retention deletes them, and a kill loses nothing."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from dlq.models import DeadLetterEntry, Resolution
from dlq.retention import pruning
from dlq.retention.periods import as_set
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import Activity, Workflow, WorkflowExecution
from runners.models import Run
from tests.plugins.archive.conftest import damage, files, old
from tests.support import admin_rows
from valkyr_plugins.archive import archiving, erasing, reading, restoring, storage, writing
from valkyr_plugins.archive.errors import ArchiveBroken, ArchiveUnavailable
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState, KeptLetter

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.django_db
ACTOR = Actor.system("tests")


def there() -> set[Any]:
    return set(WorkflowExecution.objects.values_list("pk", flat=True))


def _resolved_letter(of: WorkflowExecution) -> DeadLetterEntry:
    """Create a dead letter of the execution that retention may delete."""
    letter = admin_rows.dead_letter(admin_rows.run(of))
    past = timezone.now() - timedelta(days=1)
    DeadLetterEntry.objects.filter(pk=letter.pk).update(
        resolution=Resolution.DISCARDED, resolved_at=past, expires_at=past
    )
    return letter


def test_without_the_setting_retention_deletes_as_before(orders: Workflow) -> None:
    old(orders)

    assert archiving.turn().executions == 0
    pruning.turn()

    assert not there()
    assert not ArchiveFile.objects.exists()


def test_retention_waits_for_the_archive(archive: Path, orders: Workflow) -> None:
    gone = old(orders)
    [tally] = pruning.prune(["executions"], as_set(database_now()), pruning.PruningPace(rest=0))
    assert there() == {gone.pk}
    assert tally.kept == {"they are not in the archive yet": 1}

    done = archiving.turn()
    pruning.turn()

    assert (done.files, done.executions, done.more) == (1, 1, False)
    assert not there()
    assert not Run.objects.exists()
    [file] = ArchiveFile.objects.all()
    assert (file.state, file.executions, file.runs) == (FileState.STORED, 1, 2)
    assert files(archive) == [archive / file.name]


def test_an_archived_execution_has_all_that_its_rows_had(archive: Path, orders: Workflow) -> None:
    gone = old(orders)
    gone.refresh_from_db()
    runs = {run.pk: run for run in Run.objects.filter(execution=gone)}
    archiving.turn()
    pruning.turn()

    found = reading.load(gone.pk)

    for field in WorkflowExecution._meta.concrete_fields:
        assert getattr(found.execution, field.attname) == getattr(gone, field.attname), field
    assert {run.pk for run in found.runs} == set(runs)
    for run in found.runs:
        for field in Run._meta.concrete_fields:
            assert getattr(run, field.attname) == getattr(runs[run.pk], field.attname), field
    assert found.runs[0].logs == [{"message": "hello"}]


def test_a_file_has_one_day_of_one_workspace(archive: Path, orders: Workflow) -> None:
    other = admin_rows.workflow(owner=admin_rows.workspace("other"))
    for days in (40, 40, 41):
        old(orders, days)
    old(other, 40)

    done = archiving.turn()

    assert (done.files, done.executions) == (3, 4)
    assert sorted(ArchiveFile.objects.values_list("executions", flat=True)) == [1, 1, 2]


def test_a_full_file_is_followed_by_another_part(
    archive: Path, orders: Workflow, settings: Any
) -> None:
    settings.VALKYR = {**settings.VALKYR, "ARCHIVE_FILE_BYTES": 1_048_576}
    for _ in range(3):
        old(orders, output="x" * 600_000)
    writing_at_once = writing.READ_AT_ONCE
    try:
        writing.READ_AT_ONCE = 1
        archiving.turn()
    finally:
        writing.READ_AT_ONCE = writing_at_once

    assert list(ArchiveFile.objects.order_by("part").values_list("part", "executions")) == [
        (1, 2),
        (2, 1),
    ]


def test_dead_letters_that_went_before_are_archived(archive: Path, orders: Workflow) -> None:
    failed = old(orders, 100, state="FAILED")
    letter = _resolved_letter(failed)

    pruning.turn()
    assert not DeadLetterEntry.objects.exists()
    assert there() == {failed.pk}
    archiving.turn()
    pruning.turn()

    assert not there()
    [kept] = reading.load(failed.pk).dead_letters
    assert (kept.pk, kept.failure_reason) == (letter.pk, letter.failure_reason)
    archiving.turn()
    assert not KeptLetter.objects.exists()


def test_a_reopened_execution_keeps_its_earlier_dead_letters(
    archive: Path, orders: Workflow
) -> None:
    failed = old(orders, 100, state="FAILED")
    first = _resolved_letter(failed)
    pruning.turn()
    archiving.turn()
    pruning.turn()
    assert not there()
    restoring.restore(failed.pk, actor=ACTOR)
    second = _resolved_letter(failed)
    later = timezone.now() - timedelta(days=99)
    WorkflowExecution.objects.filter(pk=failed.pk).update(finished_at=later)

    pruning.turn()
    archiving.turn()
    pruning.turn()

    assert not there()
    assert {one.pk for one in reading.load(failed.pk).dead_letters} == {first.pk, second.pk}
    archiving.turn()
    assert not KeptLetter.objects.exists()
    assert len(files(archive)) == 1


def test_dead_letters_of_a_restored_execution_are_erased_with_it(
    archive: Path, orders: Workflow
) -> None:
    failed = old(orders, 100, state="FAILED")
    _resolved_letter(failed)
    pruning.turn()
    archiving.turn()
    pruning.turn()
    restoring.restore(failed.pk, actor=ACTOR)
    assert KeptLetter.objects.count() == 1

    erasing.erase([failed.pk], actor=ACTOR)

    assert not KeptLetter.objects.exists()


@pytest.mark.parametrize("when", ["before the upload", "after the upload", "at the commit"])
def test_a_killed_archiver_leaves_nothing_behind(
    archive: Path, orders: Workflow, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*args: Any, **kwargs: Any) -> Any:
        raise Killed

    gone = old(orders)
    with monkeypatch.context() as patched:
        if when == "before the upload":
            patched.setattr(storage, "store", die)
        elif when == "after the upload":
            patched.setattr(storage, "digest", die)
        else:
            patched.setattr(writing, "_index", die)
        with pytest.raises(Killed):
            archiving.turn()
    pruning.turn()
    assert there() == {gone.pk}
    assert ArchiveFile.objects.get().state == FileState.WRITING

    archiving.turn()
    pruning.turn()

    assert not there()
    [file] = ArchiveFile.objects.all()
    assert files(archive) == [archive / file.name]
    assert reading.load(gone.pk).row["id"] == str(gone.pk)


def test_a_file_that_differs_is_not_indexed(
    archive: Path, orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = old(orders)
    store = storage.store

    def torn(name: str, local: Path) -> None:
        store(name, local)
        (archive / name).write_bytes((archive / name).read_bytes()[:-1])

    monkeypatch.setattr(storage, "store", torn)
    with pytest.raises(ArchiveBroken, match="differs"):
        archiving.turn()

    assert "differs" in ArchiveFile.objects.get().error
    pruning.turn()
    assert there() == {gone.pk}


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9, 0.999])
def test_a_damaged_file_is_named(archive: Path, orders: Workflow, where: float) -> None:
    gone = old(orders)
    archiving.turn()
    [file] = files(archive)
    damage(file, where)

    with pytest.raises(ArchiveBroken, match="Restore the file from a backup"):
        reading.load(gone.pk)


def test_storage_that_is_away_is_named(archive: Path, orders: Workflow) -> None:
    gone = old(orders)
    archiving.turn()
    pruning.turn()
    archive.rename(archive.with_name("elsewhere"))

    with pytest.raises(ArchiveUnavailable, match="VALKYR_ARCHIVE"):
        reading.load(gone.pk)


def test_a_reopened_execution_is_archived_again(archive: Path, orders: Workflow) -> None:
    twice, once = old(orders), old(orders)
    archiving.turn()
    later = timezone.now() - timedelta(days=39)
    WorkflowExecution.objects.filter(pk=twice.pk).update(finished_at=later, output={"sum": 8})
    pruning.turn()
    assert there() == {twice.pk}

    archiving.turn()
    pruning.turn()

    assert not there()
    assert reading.load(twice.pk).execution.output == {"sum": 8}
    assert reading.load(once.pk).execution.output == {"sum": 7}
    assert sum(ArchiveFile.objects.values_list("executions", flat=True)) == 2
    assert len(files(archive)) == 2


def test_an_erased_execution_is_in_no_file(archive: Path, orders: Workflow) -> None:
    erased, kept = old(orders, output={"name": "Ann Example"}), old(orders)
    archiving.turn()
    [before] = files(archive)

    assert erasing.erase([erased.pk], actor=ACTOR, reason="asked") == 1

    [after] = files(archive)
    assert before != after
    pruning.turn()
    assert not there()
    assert reading.find(erased.pk) is None
    assert reading.load(kept.pk).row["id"] == str(kept.pk)
    archiving.turn()
    assert set(ArchivedExecution.objects.values_list("pk", flat=True)) == {kept.pk}
    assert Activity.objects.filter(action="archive.erase", object_id=str(erased.pk)).exists()


def test_an_erased_execution_gets_no_copy_later(archive: Path, orders: Workflow) -> None:
    erased = old(orders)

    erasing.erase([erased.pk], actor=ACTOR)
    archiving.turn()
    pruning.turn()

    assert not there()
    assert not files(archive)


def test_an_execution_of_an_erased_workspace_gets_no_copy_later(
    archive: Path, orders: Workflow
) -> None:
    failed, gone = old(orders, 100, state="FAILED"), old(orders, 100)
    _resolved_letter(failed)
    for _ in range(2):
        pruning.turn()
        archiving.turn()
    pruning.turn()
    restoring.restore(failed.pk, actor=ACTOR)
    assert there() == {failed.pk}
    assert KeptLetter.objects.count() == 1

    assert erasing.erase_workspace("default", None, actor=ACTOR) == 2
    assert reading.find(failed.pk) is None
    assert reading.find(gone.pk) is None
    assert not KeptLetter.objects.exists()
    archiving.turn()
    assert not files(archive)
    pruning.turn()
    assert not there()
    archiving.turn()
    assert not ArchivedExecution.objects.exists()


def test_the_command_writes_opens_and_restores_all(
    archive: Path,
    orders: Workflow,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = [old(orders, days) for days in (40, 41, 42)]
    monkeypatch.setattr(archiving, "MOST_FOUND", 1)
    call_command("valkyr_archive", "write", "--older-than-days", "7")
    pruning.turn()
    assert not there()
    capsys.readouterr()
    call_command("valkyr_archive", "write")
    assert "later ones are not due" in capsys.readouterr().out
    call_command("valkyr_archive", "show")
    call_command("valkyr_archive", "verify")
    capsys.readouterr()

    call_command("valkyr_archive", "open", str(gone[0].pk))
    shown = json.loads(capsys.readouterr().out)
    call_command("valkyr_archive", "restore", str(gone[1].pk))
    call_command("valkyr_archive", "erase", "--workspace", "default")

    assert shown["output"] == {"sum": 7}
    assert len(shown["runs"]) == 2
    assert there() == {gone[1].pk}
    assert not files(archive)
    assert not ArchiveFile.objects.exists()


def test_files_past_their_time_go(archive: Path, orders: Workflow, settings: Any) -> None:
    gone = old(orders)
    archiving.turn()
    pruning.turn()
    settings.VALKYR = {**settings.VALKYR, "ARCHIVE_KEEP_DAYS": 39}

    archiving.turn()

    assert not files(archive)
    assert not ArchiveFile.objects.exists()
    assert reading.find(gone.pk) is None


def test_a_restored_execution_is_as_before_and_goes_again(archive: Path, orders: Workflow) -> None:
    gone = old(orders, idempotency_key=str(uuid4()))
    gone.refresh_from_db()
    archiving.turn()
    pruning.turn()

    made = restoring.restore(gone.pk, actor=ACTOR, reason="asked")

    for field in WorkflowExecution._meta.concrete_fields:
        if field.name != "idempotency_key":
            assert getattr(made, field.attname) == getattr(gone, field.attname), field
    assert Run.objects.filter(execution=made).count() == 2
    assert restoring.restore(gone.pk, actor=ACTOR) == made
    archiving.turn()
    pruning.turn()
    assert not there()
    assert ArchiveFile.objects.count() == 1
