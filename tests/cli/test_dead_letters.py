"""Permanent failures, fixed from the command line."""

import json
from uuid import uuid4

import pytest

from dlq.models import DeadLetterEntry, Resolution
from executions.models import Workflow
from tests.cli.conftest import Valkyr, letter_of
from tests.support.workflows import start, wait_for_end


def test_a_requeued_dead_letter_ends_in_success(valkyr: Valkyr, letter: DeadLetterEntry) -> None:
    listed = valkyr("dead", "list", "--execution", letter.execution_id, "--quiet")
    shown = valkyr("dead", "show", letter.pk)
    requeued = valkyr("dead", "requeue", listed.out.strip(), "--json")
    watched = valkyr("watch", letter.execution_id, "--quiet")

    assert listed.out.split() == [str(letter.pk)]
    assert "print.main" in shown.out
    assert json.loads(requeued.out)["attempt"] == 2
    assert watched.code == 0
    letter.refresh_from_db()
    assert letter.resolution == Resolution.REQUEUED


def test_a_dead_letter_is_requeued_once(valkyr: Valkyr, letter: DeadLetterEntry) -> None:
    first, second = valkyr("dead", "requeue", letter.pk), valkyr("dead", "requeue", letter.pk)

    assert (first.code, second.code) == (0, 6)
    assert "Error: " in second.err
    wait_for_end([letter.execution_id])


def test_overrides_are_merged_into_the_inputs(valkyr: Valkyr, letter: DeadLetterEntry) -> None:
    said = valkyr("dead", "requeue", letter.pk, "--input", '{"value": "mended"}', "--json")

    assert said.code == 0, said.err
    run = json.loads(said.out)["id"]
    wait_for_end([letter.execution_id])
    rows = json.loads(valkyr("show", letter.execution_id, "--json").out)["runs"]
    assert {row["id"]: row["state"] for row in rows}[run] == "SUCCESS"


def test_of_several_each_is_told(valkyr: Valkyr, letter: DeadLetterEntry) -> None:
    unknown = uuid4()
    said = valkyr("dead", "requeue", letter.pk, unknown, "--json")

    told = json.loads(said.out)
    assert said.code == 1
    assert told["done"] == [str(letter.pk)]
    assert told["refused"][0] == {
        "id": str(unknown), "code": "not_found", "message": told["refused"][0]["message"],
    }  # fmt: skip
    wait_for_end([letter.execution_id])


def test_what_is_refused_of_several_is_told_though_quiet(valkyr: Valkyr) -> None:
    unknown = [uuid4(), uuid4()]
    said = valkyr("dead", "requeue", *unknown, "--quiet")

    assert (said.code, said.out) == (1, "")
    assert [line.split(":")[0] for line in said.err.splitlines()] == [str(pk) for pk in unknown]


def test_discarding_needs_notes(valkyr: Valkyr, failing: Workflow) -> None:
    letters = [letter_of(start(failing)).pk for _ in range(2)]

    without = valkyr("dead", "discard", *letters)
    given_up = valkyr("dead", "discard", *letters, "--notes", "sold out")
    again = valkyr("dead", "discard", letters[0], "--notes", "sold out")

    assert (without.code, given_up.code, again.code) == (2, 0, 6)
    found = DeadLetterEntry.objects.filter(pk__in=letters)
    assert set(found.values_list("resolution", "notes")) == {("DISCARDED", "sold out")}


@pytest.mark.plugins
def test_a_redrive_is_previewed_then_done(valkyr: Valkyr, failing: Workflow) -> None:
    letters = [letter_of(start(failing)) for _ in range(2)]
    ids = [letter.pk for letter in letters]

    preview = valkyr("redrive", "start", *ids, "--dry-run", "--json")
    untouched = DeadLetterEntry.objects.filter(pk__in=ids, resolution="PENDING").count()
    done = valkyr("redrive", "start", *ids, "--rate", 50, "--reason", "paper is in", "--wait")
    listed = valkyr("redrive", "list", "--limit", 1, "--json")

    assert json.loads(preview.out)["runs"] == 2
    assert untouched == 2
    assert done.code == 0, done.out + done.err
    assert json.loads(listed.out)[0]["progress"]["succeeded"] == 2
    assert valkyr("redrive", "start").code == 2
