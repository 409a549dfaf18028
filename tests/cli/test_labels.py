"""Executions and dead letters by label, from the command line."""

import json

from executions.models import WorkflowExecution
from tests.cli.conftest import Valkyr
from tests.support.workflows import publish, start_many, task, wait_for_end

LABELS = {"order": "{{ input.order }}", "country": "{{ input.country }}"}


def test_executions_are_listed_and_counted_by_label(valkyr: Valkyr) -> None:
    workflow = publish({"labels": LABELS, "tasks": [task("one")]})
    payloads = [{"order": f"cli-{n}", "country": "DE" if n % 2 else "FR"} for n in range(5)]
    ids = start_many(workflow, payloads)
    wait_for_end(ids)

    listed = valkyr("list", "--label", "order:cli-3", "--label", "country:DE", "--quiet")
    shown = valkyr("list", "--label", "order:cli-3")
    counted = valkyr("list", "--by-label", "country", "--workflow", workflow.slug)
    found = json.loads(valkyr("list", "--by-label", "country", "--json").out)

    assert listed.out.split() == [str(ids[3])]
    assert "order:cli-3" in shown.out
    assert [line.split()[:2] for line in counted.out.splitlines()[1:]] == [["FR", "3"], ["DE", "2"]]
    assert found["complete"] is True
    assert "country:DE" in valkyr("show", ids[3]).out
    assert WorkflowExecution.objects.get(pk=ids[3]).labels == {"order": "cli-3", "country": "DE"}


def test_dead_letters_are_listed_and_counted_by_label(valkyr: Valkyr) -> None:
    assert valkyr("dead", "list", "--label", "order:unknown", "--quiet").out == ""
    counted = json.loads(valkyr("dead", "list", "--by-label", "order", "--json").out)
    assert counted["values"] == []


def test_what_is_no_label_is_a_mistake_of_the_caller(valkyr: Valkyr, offline: Valkyr) -> None:
    assert offline("list", "--label", "order").code == 2
    assert valkyr("list", "--by-label", "Order").code != 0
    assert valkyr("list", "--by-label", "order", "--label", "order:1").code == 2
    mixed = valkyr("dead", "list", "--by-label", "order", "--text", "x")
    assert (mixed.code, "--workflow" in mixed.err) == (2, True)
