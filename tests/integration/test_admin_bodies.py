"""Loops, maps, waits and children on the admin's pages: readable, linked, and with few queries."""

import re
import time
from datetime import timedelta
from html import unescape
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from executions.models import Workflow, WorkflowExecution
from runners.admin.steps import steps_of
from runners.models import Run
from runners.waits.wake_runs import wake
from tests.support import admin_rows as rows
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import world
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db(transaction=True)

DRAFT = {"tasks": [task("draft"), task("check", after="draft")]}
LOOP = task("refine", "flow.loop", **{"with": {"count": 5}, "body": DRAFT})
ITEMS = {"items": "{{ input.items }}", "onItemError": "continue", "maxConcurrency": 2}
MAP = task("batch", "flow.map", **{"with": ITEMS, "body": {"tasks": [task("pack"), LOOP]}})
HUGE = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, outcome, error, error_type, publications, queued_at, started_at,
    finished_at, cost_tokens, cost_amount)
SELECT gen_random_uuid(), %(execution)s, 0, p, p, gen_random_uuid(), gen_random_uuid(),
       'flow.noop', 1, 1, s, false, 'default', 5, 1, 'somebody', 0, '', '', '',
       CASE WHEN s = 'FAILED' THEN 'error' ELSE 'success' END, '', '', 1, clock_timestamp(),
       clock_timestamp(), clock_timestamp(), 0, 0
  FROM generate_series(0, %(items)s - 1) AS n
  CROSS JOIN unnest(ARRAY['pack', 'weigh', 'label']) AS t
  CROSS JOIN LATERAL (SELECT format('batch[%%s].%%s.main', n, t) AS p,
       CASE WHEN t = 'label' AND n %% 100 = 7 THEN 'FAILED' ELSE 'SUCCESS' END AS s) AS made
"""


@pytest.fixture
def op(client: Client, django_user_model: Any, static_files: None) -> Client:
    """Return a superuser's client."""
    cache.clear()
    client.force_login(
        django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    )
    return client


def document(*tasks: dict[str, Any]) -> Workflow:
    return publish({"tasks": list(tasks)})


def page(client: Client, execution: UUID, place: str = "") -> str:
    """Return the HTML of the execution's page."""
    address = reverse("admin:executions_workflowexecution_change", args=[execution])
    answer = client.get(address, {"place": place} if place else {})
    assert answer.status_code == 200
    return str(answer.content.decode())


def steps(html: str) -> str:
    """Return the text of the page's section of steps."""
    return words(html.partition('aria-label="Steps"')[2].partition("</section>")[0])


def words(html: str) -> str:
    """Return a page's text on one line."""
    return " ".join(unescape(re.sub(r"<(script|style).*?</\1>|<wbr>|<[^>]+>", "", html)).split())


def container(execution: WorkflowExecution, path: str, state: str, **progress: Any) -> Run:
    return rows.run(
        execution,
        path,
        state,
        module="flow.map" if "total" in progress else "flow.loop",
        waits_for="body",
        progress=progress,
    )


def test_a_loop_says_its_iteration_and_shows_the_newest_first(op: Client) -> None:
    execution = rows.execution(document(LOOP))
    container(execution, "refine.main", "WAITING", index=2, count=5)
    for index in range(3):
        rows.run(execution, f"refine[{index}].draft.main", "SUCCESS")
    rows.run(execution, "refine[2].check.main", "RUNNING")

    html = page(op, execution.pk)

    text = steps(html)
    assert "iteration 3 of 5" in text
    assert "Iterations: 3" in text
    assert text.index("refine[2].check.main") < text.index("refine[1].draft.main")
    assert "<details open>" in html


def test_a_map_says_how_many_items_are_done_under_way_and_failed(op: Client) -> None:
    execution = rows.execution(document(MAP))
    container(execution, "batch.main", "WAITING", total=100, wide=2, next=100, open=[8, 9])
    for index in range(100):
        state = "FAILED" if index == 3 else "RUNNING" if index in (8, 9) else "SUCCESS"
        outcome = "error" if state == "FAILED" else ""
        rows.run(execution, f"batch[{index}].pack.main", state, outcome=outcome)

    text = steps(page(op, execution.pk))

    assert "97 of 100 items done, 2 in progress, 1 failed" in text
    assert "Items: 100, of which 50 are shown, starting with those that need attention" in text
    shown = [text.index(f"batch[{index}] ") for index in (3, 9, 8, 99)]
    assert shown == sorted(shown)
    assert "batch[20] " not in text


def test_a_dead_item_comes_first_and_is_not_under_way(op: Client) -> None:
    execution = rows.execution(document(MAP), "FAILED")
    container(execution, "batch.main", "WAITING", total=3, wide=2, next=3, open=[0])
    rows.run(execution, "batch[0].pack.main", "DLQ")
    rows.run(execution, "batch[1].pack.main", "DLQ")
    rows.run(execution, "batch[1].pack.main", "SUCCESS", attempt=2)
    rows.run(execution, "batch[2].pack.main", "SUCCESS")

    found = steps_of(execution, "")

    assert found is not None
    turns = found.shown[0].turns
    assert [(turn.index, turn.kind) for turn in turns.shown] == [
        (0, "dead"), (2, "done"), (1, "done"),
    ]  # fmt: skip
    assert "2 of 3 items done, 1 dead" in words(page(op, execution.pk))


def test_an_item_whose_error_edge_was_taken_has_not_failed() -> None:
    error = {"from": "pay", "to": "excuse", "on": "error"}
    body = {"tasks": [task("pay"), task("excuse")], "edges": [error]}
    given = {"items": [1], "onItemError": "continue"}
    execution = rows.execution(document(task("each", "flow.map", **{"with": given, "body": body})))
    container(execution, "each.main", "SUCCESS", total=1, wide=1, next=1, open=[])
    rows.run(execution, "each[0].pay.main", "FAILED", outcome="error")
    rows.run(execution, "each[0].excuse.main", "SUCCESS")

    found = steps_of(execution, "")

    assert found is not None
    assert [turn.kind for turn in found.shown[0].turns.shown] == ["done"]


def test_a_nested_body_is_opened_on_a_page_of_its_own(
    op: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as engine:
        pk = start(document(MAP), {"items": [1, 2]})
        engine.drain()
    whole, item, turn = (steps(page(op, pk, at)) for at in ("", "batch[1].", "batch[1].refine[4]."))

    assert "2 items" in whole
    assert "batch[1].refine.main" in whole
    assert "batch[1].refine[4]" not in whole
    assert "Workflow / batch[1]" in item
    assert "5 iterations" in item
    assert "batch[1].refine[4].draft.main" in item
    assert "batch[0].pack.main" not in item
    assert "Workflow / batch[1] / refine[4]" in turn
    assert "batch[1].refine[4].check.main" in turn


@pytest.mark.parametrize(
    "place", ["batch", "batch[1]", "draft[1].", "batch[x].", "a[1].b[2].", "]"]
)
def test_a_place_that_cannot_be_says_so(op: Client, place: str) -> None:
    execution = rows.execution(document(MAP))

    assert f"“{place}” is not a valid path to steps of this workflow." in words(
        page(op, execution.pk, place)
    )


def test_a_place_where_nothing_began_says_so(op: Client) -> None:
    execution = rows.execution(document(MAP))

    assert "No step has started here." in words(page(op, execution.pk, "batch[7]."))
    assert "No steps are planned yet." in words(page(op, execution.pk))


def test_an_approval_says_since_when_until_when_and_where_to_decide(op: Client) -> None:
    ask = {"title": "Refund <b>40</b>?", "expiresSeconds": 86_400}
    pk = start(document(task("ask", "flow.approval", **{"with": ask})))
    recorded(claimed(pk, "ask.main"))
    run = run_of(pk, "ask.main")
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=3))

    html = page(op, pk)

    text = words(html)
    assert "Waits for approval: “Refund <b>40</b>?”, requested 3 min ago, expires in 23 h" in text
    assert reverse("admin:runners_approval_change", args=[run.pk]) in html
    answer = op.get(reverse("admin:runners_run_change", args=[run.pk])).content.decode()
    assert "requested 3 min ago, expires in 23 h" in words(answer)


def test_a_wait_that_is_over_says_what_came_of_it(op: Client) -> None:
    ask = {"title": "Refund?"}
    pk = start(document(task("ask", "flow.approval", **{"with": ask})))
    recorded(claimed(pk, "ask.main"))
    told = {"by": "person", "decision": "approved", "comment": "", "actor": "ada", "at": "now"}
    wake(run_of(pk, "ask.main").pk, "approval", told)  # type: ignore[arg-type]
    recorded(claimed(pk, "ask.main"))

    assert re.search(r"Waited \d+ s for approval: approved by ada", words(page(op, pk)))


@pytest.mark.parametrize(
    ("kind", "progress", "said"),
    [
        ("timer", None, "Waits for a timer, started 2 min ago, continues in 59 min"),
        ("event", {"event": "order.paid"}, "Waits for the event order.paid, started 2 min ago"),
        ("callback", {"title": "the bank"}, "Waits for a callback: “the bank”, started 2"),
    ],
)  # fmt: skip
def test_every_wait_is_told_in_words(op: Client, kind: str, progress: Any, said: str) -> None:
    execution = rows.execution(rows.workflow())
    due = timezone.now() + timedelta(minutes=60)
    rows.run(execution, "charge.main", "WAITING", waits_for=kind, progress=progress, due_at=due)

    assert said in words(page(op, execution.pk))


def test_parent_and_child_lead_to_each_other(op: Client) -> None:
    child = document(task("a", "flow.approval", **{"with": {"title": "?"}}))
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    pk = start(document(call))
    recorded(claimed(pk, "call.main"))
    made = WorkflowExecution.objects.get(parent_id=pk)

    above, below = page(op, pk), page(op, made.pk)

    assert reverse("admin:executions_workflowexecution_change", args=[made.pk]) in above
    assert "Waits for its child execution, started" in words(above)
    assert reverse("admin:executions_workflowexecution_change", args=[pk]) in below
    assert reverse("admin:runners_run_change", args=[run_of(pk, "call.main").pk]) in below
    assert "child execution" in words(above)
    assert "parent execution" in words(below)


def test_failures_replays_and_forks_lead_both_ways(op: Client) -> None:
    of = rows.workflow()
    failed = rows.execution(of, "FAILED")
    others = {
        "its error execution": rows.execution(of, failure_of=failed),
        "a replay": rows.execution(of, origin=failed),
        "a fork, step charge.main": rows.execution(
            of, origin=failed, origin_point="step charge.main"
        ),
    }

    html = page(op, failed.pk)

    for word, other in others.items():
        assert word in words(html)
        address = reverse("admin:executions_workflowexecution_change", args=[other.pk])
        assert address in html
        back = page(op, other.pk)
        assert reverse("admin:executions_workflowexecution_change", args=[failed.pk]) in back
    assert "the execution whose failure started it" in words(
        page(op, others["its error execution"].pk)
    )


def test_runs_of_one_turn_are_found_by_execution_and_path(op: Client) -> None:
    execution = rows.execution(document(LOOP))
    other = rows.execution(document(LOOP))
    for index in (2, 20):
        rows.run(execution, f"refine[{index}].draft.main", "SUCCESS")
        rows.run(other, f"refine[{index}].draft.main", "SUCCESS")

    def found(text: str) -> int:
        answer = op.get(reverse("admin:runners_run_changelist"), {"q": text})
        assert answer.status_code == 200
        return int(answer.context["cl"].result_count)

    assert found(f"{execution.pk} refine[2]") == 1
    assert found(f"{execution.pk} refine[") == 2
    assert found(f"{execution.pk} raf%") == 0
    assert found(f"{execution.pk}") == 2
    assert found("refine[20]") == 2


def test_what_was_rolled_back_is_marked_in_the_list_and_left_out_of_the_steps(op: Client) -> None:
    execution = rows.execution(rows.workflow(), epoch=1)
    rows.run(execution, "reserve.main", "SUCCESS", superseded=True, outputs={"first": True})
    rows.run(execution, "reserve.main", "SUCCESS", epoch=1)

    found = steps_of(execution, "")

    assert found is not None
    assert len(found.shown) == 1
    assert "Rolled-back steps appear only in the list." in words(page(op, execution.pk))
    listed = op.get(reverse("admin:runners_run_changelist"), {"q": str(execution.pk)})
    assert "succeeded, rolled back" in words(listed.content.decode())


def test_ten_thousand_items_cost_a_few_queries_and_less_than_a_second(op: Client) -> None:
    body = {"tasks": [task("pack"), task("weigh"), task("label")]}
    given = {"items": "{{ input.items }}", "onItemError": "continue"}
    execution = rows.execution(document(task("batch", "flow.map", **{"with": given, "body": body})))
    container(execution, "batch.main", "WAITING", total=10_000, wide=100, next=10_000, open=[])
    with connection.cursor() as cursor:
        cursor.execute(HUGE, {"execution": execution.pk, "items": 10_000})
        cursor.execute("ANALYZE runners_run")
    page(op, execution.pk)

    with CaptureQueriesContext(connection) as seen:
        found = steps_of(execution, "")
    times = []
    for _ in range(3):
        began = time.perf_counter()
        steps_of(execution, "")
        times.append(time.perf_counter() - began)

    assert found is not None
    assert (found.shown[0].turns.total, found.shown[0].turns.failed) == (10_000, 100)
    assert len(found.shown[0].open) == 50
    assert sum(len(turn.runs) for turn in found.shown[0].open) == 150
    assert len(seen) <= 4
    assert min(times) < 1, times
    assert len(page(op, execution.pk)) < 400_000


def test_the_page_costs_the_same_with_more_turns(op: Client) -> None:
    def made(turns: int) -> WorkflowExecution:
        execution = rows.execution(document(LOOP))
        container(execution, "refine.main", "WAITING", index=turns - 1, count=50)
        for index in range(turns):
            rows.run(execution, f"refine[{index}].draft.main", "SUCCESS")
        return execution

    def queries(execution: WorkflowExecution) -> int:
        page(op, execution.pk)
        with CaptureQueriesContext(connection) as seen:
            page(op, execution.pk)
        return len(seen)

    assert queries(made(2)) == queries(made(20))


def test_long_paths_may_be_broken(op: Client) -> None:
    name = "a" * 90
    execution = rows.execution(document(task(name, "flow.loop", **{"with": {"count": 1}, "body":
        {"tasks": [task(name)]}})))  # fmt: skip
    container(execution, f"{name}.main", "WAITING", index=0, count=1)
    rows.run(execution, f"{name}[0].{name}.main", "RUNNING")

    assert f'<span class="vk-path">{name}[0].<wbr>{name}.<wbr>main</span>' in page(op, execution.pk)


@pytest.mark.parametrize(("state", "said"), [("SUCCESS", "no items"), ("PENDING", "")])
def test_a_container_without_turns_says_no_more_than_is_known(
    op: Client, state: str, said: str
) -> None:
    execution = rows.execution(document(MAP))
    rows.run(execution, "batch.main", state, module="flow.map")

    text = steps(page(op, execution.pk))

    assert ("items" in text) is bool(said)
    assert said in text
