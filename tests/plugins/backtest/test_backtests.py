"""A draft compared with the records of past executions: each verdict, and no effects."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from psycopg import sql

from executions.database.ids import uuid7
from executions.errors import InvalidDefinition, NotFound, QuotaExceeded, WrongState
from executions.models import Activity, Workflow, WorkflowExecution
from executions.publishing import versioning
from tests.support.partner import Partner
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, publish, start, states, task
from valkyr_plugins.backtest import lifecycle, records, working
from valkyr_plugins.backtest.lifecycle import BacktestWish
from valkyr_plugins.backtest.models import Backtest, BacktestResult, BacktestState

from .comparing import texts


def call(name: str, url: str, after: Any = None, **body: Any) -> dict[str, Any]:
    inputs = {"url": url, "method": "POST", "json": body}
    return task(name, "http.request", after, **{"with": inputs, "retry": "none"})


def shop(url: str, **changed: Any) -> dict[str, Any]:
    """Return a workflow that charges an order and ships it; orders above 100 are reviewed first."""
    amount = changed.get("amount", "{{ input.amount }}")
    limit = changed.get("limit", 100)
    return {
        "name": "shop",
        "variables": {"carrier": "post"},
        "output": "{{ {'charged': tasks.charge.output.body.body, 'carrier': vars.carrier} }}",
        "tasks": [
            task(
                "large", "flow.if", **{"with": {"condition": f"{{{{ input.amount > {limit} }}}}"}}
            ),
            call("review", f"{url}/echo", order="{{ input.order }}"),
            task("carry", "flow.set_variables", **{"with": {"values": {"carrier": "express"}}}),
            call("charge", f"{url}/echo", amount=amount, by="{{ vars.carrier }}"),
            task(
                "each",
                "flow.map",
                "charge",
                **{"with": {"items": "{{ input.lines }}"}},
                body={"tasks": [call("reserve", f"{url}/echo", sku="{{ item }}")]},
            ),
            task(
                "sum",
                "flow.noop",
                "each",
                **{"with": {"value": "{{ tasks.each.output | length }}"}},
            ),
            *changed.get("more", []),
        ],
        "edges": [
            {"from": "large", "to": "review", "on": "true"},
            {"from": "large", "to": "carry", "on": "false"},
            {"from": "review", "to": "charge"},
            {"from": "carry", "to": "charge"},
            *changed.get("edges", []),
        ],
    }


ORDERS = [
    {"order": number, "amount": 30 * number, "lines": [f"a{number}", "b"]} for number in range(1, 7)
]


@pytest.fixture
def past(queue: World, partner: Partner) -> Workflow:
    """Run six orders of 30 to 180, three of which are reviewed."""
    Backtest.objects.all().delete()
    workflow = publish(shop(partner.url))
    ids = [start(workflow, order) for order in ORDERS]
    queue.drain()
    assert set(states(ids).values()) == {"SUCCESS"}
    return workflow


def drafted(workflow: Workflow, document: dict[str, Any]) -> Workflow:
    return versioning.update_workflow(
        workflow.pk,
        {"definition": workflow.definition | document},
        actor=ACTOR,
        expected_revision=None,
    )


def compared(workflow: Workflow, most: int = 100, **more: Any) -> Backtest:
    """Backtest the draft to its end; return the backtest."""
    wish = BacktestWish(most=most, selection=more.pop("selection", {}), **more)
    made = lifecycle.create(workflow.pk, wish, actor=ACTOR)
    while working.work(made.pk):
        pass
    made.refresh_from_db()
    assert made.state == BacktestState.DONE, made.error
    return made


def verdicts(made: Backtest, step: str) -> dict[str, int]:
    found: dict[str, int] = made.by_step[step]
    return found


# A backtest writes its own rows, and one entry of the audit trail.
OWN = {"valkyr_backtest_backtest", "valkyr_backtest_backtestresult", "executions_activity"}


def fingerprints() -> dict[str, str]:
    """Return a digest of each table, which changes with every update, even one that changes no
    value.
    """
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(
                sql.SQL(
                    "SELECT coalesce(md5(string_agg(t.ctid || ' ' || t.xmin || t::text,"
                    " ' ' ORDER BY t.ctid)), '') FROM {} AS t"
                ).format(sql.Identifier(table))
            )
            found[table] = cursor.fetchone()[0]
    return found


def test_an_unchanged_draft_is_the_same_and_the_partner_hears_nothing(
    past: Workflow, partner: Partner
) -> None:
    heard, before = len(partner.received), fingerprints()

    made = compared(past)

    assert made.counts == {"SAME": 6}, made.groups
    assert made.groups == {"groups": [], "leftOut": 0}
    assert verdicts(made, "each.reserve.main") == {"SAME": 12}
    assert verdicts(made, "charge.main") == {"SAME": 6}
    assert len(partner.received) == heard
    after = fingerprints()
    assert {table for table in before | after if before.get(table) != after.get(table)} == OWN
    assert set(Activity.objects.values_list("action", flat=True)) >= {"backtest.start"}


def test_a_call_with_other_inputs_is_told_and_what_reads_it_is_not_compared(
    past: Workflow, partner: Partner
) -> None:
    heard = len(partner.received)
    drafted(past, shop(partner.url, amount=0))

    made = compared(past)

    assert made.counts == {"WOULD_CALL": 6}
    assert len(partner.received) == heard
    assert verdicts(made, "charge.main") == {"WOULD_CALL": 6}
    assert verdicts(made, "review.main") == {"SAME": 6}
    # The map does not read the charge's result, so that it is still compared.
    assert verdicts(made, "each.reserve.main") == {"SAME": 12}
    assert "6 executions: step charge would now be called with json.amount 0." in texts(made)
    told = "the workflow cannot be compared, because the result of step charge is not known"
    assert f"6 executions: {told}." in texts(made)
    row = BacktestResult.objects.filter(backtest=made).order_by("id")[0]
    (call,) = [one for one in row.steps if one["stepPath"] == "charge.main"]
    assert call["changes"] == [{"field": "json.amount", "recorded": 180, "now": 0}]


def test_another_path_is_told_with_the_calls_on_it(past: Workflow, partner: Partner) -> None:
    heard = len(partner.received)
    drafted(past, shop(partner.url, limit=50))

    made = compared(past)

    # 60 and 90 were not reviewed then.
    assert made.counts == {"SAME": 4, "WOULD_CALL": 2}
    assert verdicts(made, "large.main") == {"SAME": 4, "DIFFERENT_PATH": 2}
    assert "2 executions: step review would now be called, and was not called then." in texts(made)
    assert "2 executions: step carry would not run." in texts(made)
    assert "2 executions: step large would now have the outcome true instead of false." in texts(
        made
    )
    # The carrier is another variable, so that the charge would be another call.
    assert verdicts(made, "charge.main") == {"SAME": 4, "WOULD_CALL": 2}
    assert len(partner.received) == heard


def test_another_output_of_a_pure_step_is_told(past: Workflow, partner: Partner) -> None:
    document = shop(partner.url)
    document["tasks"][5]["with"]["value"] = "{{ (tasks.each.output | length) * 10 }}"
    drafted(past, document)

    made = compared(past)

    assert made.counts == {"DIFFERENT_OUTPUT": 6}
    assert texts(made) == ["6 executions: step sum would now return output 20 instead of 2."]


def test_an_output_that_reads_unknown_variables_is_not_compared(
    queue: World, partner: Partner
) -> None:
    def document(amount: int) -> dict[str, Any]:
        note = {"values": {"paid": "{{ tasks.pay.output.body.body }}"}}
        return {
            "variables": {"paid": None},
            "output": "{{ vars.paid }}",
            "tasks": [
                call("pay", f"{partner.url}/echo", amount=amount),
                task("note", "flow.set_variables", "pay", **{"with": note}),
            ],
        }

    workflow = publish(document(1))
    pk = start(workflow)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    drafted(workflow, document(2))

    made = compared(workflow)

    told = "the workflow cannot be compared, because the result of step pay is not known"
    assert f"1 execution: {told}." in texts(made), texts(made)


def test_a_new_call_that_reads_variables_is_told(queue: World, partner: Partner) -> None:
    note = task("note", "flow.set_variables", **{"with": {"values": {"x": 1}}})
    workflow = publish({"variables": {"x": 0}, "tasks": [note]})
    pk = start(workflow)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    heard = len(partner.received)
    tell = call("tell", f"{partner.url}/echo", "note", x="{{ vars.x }}")
    drafted(workflow, {"tasks": [note, tell]})

    made = compared(workflow)

    assert verdicts(made, "tell.main") == {"WOULD_CALL": 1}
    assert verdicts(made, "note.main") == {"SAME": 1}
    assert "1 execution: step tell would now be called, and was not called then." in texts(made)
    assert len(partner.received) == heard


def test_a_renamed_step_keeps_its_record(past: Workflow, partner: Partner) -> None:
    document = shop(partner.url)
    document["tasks"][1]["id"] = "inspect"
    for edge in document["edges"]:
        for end in ("from", "to"):
            edge[end] = edge[end].replace("review", "inspect")
    drafted(past, document)

    made = compared(past)

    assert made.counts == {"SAME": 6}, texts(made)


def test_an_error_edge_is_followed_after_a_recorded_failure(queue: World, partner: Partner) -> None:
    document = {"tasks": [call("pay", f"{partner.url}/refuse", amount=1)]}
    workflow = publish(document)
    pk = start(workflow)
    queue.drain()
    assert states([pk])[pk] == "FAILED", partner.received
    heard = len(partner.received)
    more = [
        *document["tasks"],
        call("tell", f"{partner.url}/echo", why="{{ tasks.pay.error.type }}"),
    ]
    drafted(workflow, {"tasks": more, "edges": [{"from": "pay", "to": "tell", "on": "error"}]})

    made = compared(workflow, selection={"states": ["FAILED"]})

    assert verdicts(made, "pay.main") == {"SAME": 1}
    assert texts(made)[0].startswith("1 execution: step tell would now be called")
    assert len(partner.received) == heard


def test_loops_and_variables_are_computed_again(queue: World) -> None:
    loop = task(
        "count",
        "flow.loop",
        **{"with": {"until": "{{ vars.n >= 3 }}"}},
        body={
            "tasks": [
                task("add", "flow.set_variables", **{"with": {"values": {"n": "{{ vars.n + 1 }}"}}})
            ]
        },
    )
    document = {"variables": {"n": 0}, "output": "{{ vars.n }}", "tasks": [loop]}
    workflow = publish(document)
    pk = start(workflow)
    queue.drain()
    assert WorkflowExecution.objects.get(pk=pk).output == 3
    assert compared(workflow).counts == {"SAME": 1}
    loop["with"]["until"] = "{{ vars.n >= 5 }}"
    drafted(workflow, {"tasks": [loop]})

    made = compared(workflow)

    assert made.counts == {"DIFFERENT_PATH": 1}, texts(made)
    assert verdicts(made, "count.add.main") == {"SAME": 3, "DIFFERENT_PATH": 2}


def test_the_newest_executions_are_chosen_by_state_time_and_version(
    past: Workflow, partner: Partner
) -> None:
    assert compared(past, most=2).counts == {"SAME": 2}
    assert compared(past, selection={"states": ["FAILED"]}).total == 0
    assert compared(past, selection={"version": 2}).total == 0
    third = WorkflowExecution.objects.filter(workflow=past).order_by("created_at", "id")[3]
    before = compared(past, selection={"until": third.created_at.isoformat()})
    assert (before.total, before.done) == (3, 3)
    drafted(past, shop(partner.url, amount=0))
    assert compared(past, version=1).counts == {"SAME": 6}
    with pytest.raises(NotFound, match="no published version 9"):
        compared(past, version=9)


def test_an_execution_that_is_too_large_keeps_its_place_among_the_results(
    past: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = list(WorkflowExecution.objects.filter(workflow=past).order_by("-created_at", "-id"))
    more = newest[1].runs.earliest("pk")
    more.pk, more.step_path, more.idempotency_key = uuid7(), "more.main", "more"
    more.save(force_insert=True)
    monkeypatch.setattr(records, "MAX_RUNS", newest[0].runs.count())

    made = compared(past)

    found = BacktestResult.objects.filter(backtest=made).order_by("id")
    assert [one.execution_id for one in found] == [one.pk for one in newest]
    assert found[1].verdict == "NOT_COMPARABLE"


def test_a_draft_with_problems_is_rejected(past: Workflow) -> None:
    with pytest.raises(InvalidDefinition, match="cannot be backtested"):
        compared(past, definition={"schema": "valkyr/1", "name": "x", "tasks": [{"id": "a"}]})
    assert not Backtest.objects.exists()


def test_a_cancelled_backtest_stores_nothing_more(past: Workflow) -> None:
    made = lifecycle.create(past.pk, BacktestWish(selection={}), actor=ACTOR)
    held = lifecycle.claim(made.pk)
    assert held is not None
    lifecycle.cancel(made.pk, actor=ACTOR, reason="enough")

    assert working._turn(held) is False

    made.refresh_from_db()
    assert (made.state, made.done) == (BacktestState.CANCELLED, 0)
    assert not BacktestResult.objects.filter(backtest=made).exists()
    with pytest.raises(WrongState):
        lifecycle.cancel(made.pk, actor=ACTOR)


def test_another_worker_continues_after_the_last_batch(
    past: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "BATCH", 2)
    monkeypatch.setattr(working, "TURN_SECONDS", 0)
    made = lifecycle.create(past.pk, BacktestWish(selection={}), actor=ACTOR)
    assert working.work(made.pk)
    first = lifecycle.claim(made.pk)  # this worker dies
    assert first is not None
    assert not working.work(made.pk), "it is leased"
    Backtest.objects.filter(pk=made.pk).update(leased_until=made.created_at)
    while working.work(made.pk):
        pass

    assert working._turn(first) is False  # and returns too late

    made.refresh_from_db()
    assert (made.state, made.done, made.counts) == (BacktestState.DONE, 6, {"SAME": 6})
    found = BacktestResult.objects.filter(backtest=made).values_list("execution_id", flat=True)
    assert len(set(found)) == 6


def test_a_workspace_has_few_unfinished_backtests(past: Workflow) -> None:
    for _ in range(lifecycle.MOST_UNFINISHED):
        lifecycle.create(past.pk, BacktestWish(selection={}), actor=ACTOR)
    with pytest.raises(QuotaExceeded, match="Cancel one"):
        lifecycle.create(past.pk, BacktestWish(selection={}), actor=ACTOR)


def test_queries_do_not_grow_with_the_executions(
    past: Workflow, django_assert_max_num_queries: Any
) -> None:
    made = lifecycle.create(past.pk, BacktestWish(selection={}), actor=ACTOR)
    with django_assert_max_num_queries(40):
        working.work(made.pk)


def test_old_backtests_are_deleted(past: Workflow) -> None:
    made = compared(past)
    assert lifecycle.expire() == 0
    Backtest.objects.filter(pk=made.pk).update(created_at="2020-01-01T00:00:00Z")
    assert lifecycle.expire() == 1
    assert not BacktestResult.objects.filter(backtest_id=UUID(str(made.pk))).exists()
