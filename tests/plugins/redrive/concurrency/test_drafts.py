"""Tests of a redrive before its start: a draft, and its preview."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dlq.models import DeadLetterEntry
from dlq.resolve.discard import discard
from executions.database.clock import database_now
from executions.models import WorkflowExecution
from executions.publishing import versioning
from tests.plugins.redrive.redriving import HOPELESS, begun, dead, made
from tests.support.single_thread import World
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    effect,
    limited_workspace,
    publish,
    start,
)
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.lifecycle import forget_drafts
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.options import InvalidRedrive, RedriveOptions
from valkyr_plugins.redrive.preview import preview, preview_of


def test_the_preview_says_what_runs_who_is_left_out_and_what_happens_again(queue: World) -> None:
    letters = dead(queue, 5, HOPELESS)
    begun(letters[:1])
    draft = made(letters, overrides={"value": {"a": None}, "seconds": "x"}, rate=2.0)
    discard(letters[1], actor=ACTOR, notes="known")
    cancelled = DeadLetterEntry.objects.get(pk=letters[2])
    WorkflowExecution.objects.filter(pk=cancelled.execution_id).update(state="CANCELLED")

    found = preview(draft.pk)

    assert found.runs == 2
    assert {(skipped.reason, skipped.count) for skipped in found.skipped} == {
        ("Another redrive holds the dead letter.", 1),
        ("The dead letter was already discarded.", 1),
        ("The execution was cancelled. Redrive the whole execution instead.", 1),
    }
    assert [(e.step, e.module, e.count) for e in found.effects] == [("bad.main", "test.effect", 4)]
    assert found.checked == 4
    assert {rejected.entry_id for rejected in found.rejected} == {letters[i] for i in (0, 2, 3, 4)}
    assert found.samples[0].before["failTimes"] == 99
    assert found.samples[0].after["value"] == {}
    assert found.seconds == 1.0
    assert Redrive.objects.get(pk=draft.pk).state == "DRAFT"


def test_a_redrive_is_previewed_as_its_draft_without_one(queue: World) -> None:
    letters = dead(queue, 5)
    begun(letters[:1])
    discard(letters[1], actor=ACTOR, notes="known")
    wish: dict[str, Any] = {"overrides": {"value": {"a": None}, "seconds": "x"}, "rate": 2.0}
    rows = DeadLetterEntry.objects.filter(pk__in=letters)

    with CaptureQueriesContext(connection) as queries:
        found = preview_of(*lifecycle.unsaved(rows, RedriveOptions(**wish), actor=ACTOR))

    assert not [one for one in queries if one["sql"].lstrip().startswith(("INSERT", "UPDATE"))]
    assert found == preview(made(letters, **wish).pk)
    assert found.dead_letters == [letters[0], *letters[2:]]
    with pytest.raises(InvalidRedrive, match="nothing to redrive"):
        lifecycle.unsaved(rows.none(), RedriveOptions(), actor=ACTOR)


@pytest.mark.plugins  # new executions are forks
def test_the_preview_tells_how_another_version_differs(queue: World) -> None:
    workflow = publish(HOPELESS)
    pk = start(workflow, {"n": 1})
    queue.drain()
    letter = DeadLetterEntry.objects.get(execution_id=pk)
    changed = {
        "schema": "valkyr/1", "name": "tested",
        "tasks": [effect("bad", value=1), effect("more", "bad")],
    }  # fmt: skip
    versioning.update_workflow(
        workflow.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)

    found = preview(made([letter.pk], scope="EXECUTION", version="latest").pk)

    assert [(c.before, c.after) for c in found.definition_changes] == [(1, 2)]
    assert "Task more is new." in found.definition_changes[0].changes
    assert {effect.step for effect in found.effects} == {"bad.main", "more.main"}
    gone = preview(made([letter.pk], scope="EXECUTION", version=7).pk)
    assert (gone.runs, gone.skipped[0].reason) == (0, "The workflow has no such version.")


def test_a_draft_nobody_starts_is_forgotten_after_a_day(queue: World) -> None:
    letters = dead(queue, 2)
    old, young = made(letters), made(letters)
    Redrive.objects.filter(pk=old.pk).update(created_at=database_now() - timedelta(hours=25))

    assert forget_drafts() == 1

    assert not Redrive.objects.filter(pk=old.pk).exists()
    assert Redrive.objects.filter(pk=young.pk).exists()


def test_dead_letters_of_two_workspaces_are_not_one_redrive(queue: World) -> None:
    letters = dead(queue, 1) + dead(queue, 1, workspace=limited_workspace(5))

    with pytest.raises(InvalidRedrive, match="several workspaces"):
        made(letters)
    with pytest.raises(InvalidRedrive, match="nothing to redrive"):
        made([])
    assert default_workspace().pk is not None
