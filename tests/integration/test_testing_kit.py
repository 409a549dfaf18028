"""The testing kit runs real executions in one process, without a broker or a worker."""

from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from django.db import connection

from runners.modules.base import Module, ModuleInputs, Result, StepError
from runners.states import ErrorType
from runners.testing import failing_module, in_turn, run_module
from runners.testing.harness import Valkyr
from tests.support import modules, row_steps

EXAMPLES = Path(__file__).parents[2] / "examples"

ORDER = """
schema: valkyr/1
name: order
input: {type: object, properties: {total: {type: number}}}
tasks:
  - id: size
    use: flow.if
    with: {condition: "{{ input.total > 100 }}"}
  - id: review
    use: flow.approval
    after: "size:true"
    with: {title: "Order of {{ input.total }}", expiresSeconds: 3600}
  - id: charge
    use: http.request
    after: ["size:false", "review:approved"]
    join: any
    with: {url: "https://bank.example/charges", method: POST, json: {amount: "{{ input.total }}"}}
  - id: done
    use: flow.noop
    after: charge
    with: {value: {charge: "{{ tasks.charge.output.body.id }}"}}
output: "{{ tasks.done.output }}"
"""
PAID = {
    "status": 200,
    "headers": {},
    "body": {"id": "ch_1"},
    "bodyEncoding": "json",
    "url": "u",
    "durationMs": 1,
}


@pytest.fixture
def valkyr(db):
    return Valkyr()


def test_an_execution_is_carried_to_its_end(valkyr):
    run = valkyr.start(ORDER, {"total": 20}, answers={"charge": PAID})

    run.assert_state("SUCCESS")
    run.assert_ran(["size", "charge", "done"])
    run.assert_outcome("size", "false").assert_outcome("review", "skipped")
    assert run.output == {"charge": "ch_1"}
    assert run.inputs("charge")["json"] == {"amount": 20}


def test_a_person_lets_it_go_on(valkyr):
    run = valkyr.start(ORDER, {"total": 500}, answers={"http.request": PAID})

    run.assert_state("RUNNING")
    assert run.waits == {"review.main": "approval"}
    run.approve("review", by="ann").assert_state("SUCCESS")
    assert run.outputs("review")["by"] == "ann"


def test_a_rejection_and_an_expiry_end_it_too(valkyr):
    rejected = valkyr.start(ORDER, {"total": 500}).reject("review", comment="too much")
    expired = valkyr.start(ORDER, {"total": 500}).advance_time(timedelta(hours=1))

    rejected.assert_outcome("review", "rejected").assert_outcome("charge", "skipped")
    expired.assert_outcome("review", "expired")


def test_a_retry_waits_for_its_time(valkyr):
    answers = {"charge": in_turn(ConnectionError("down"), PAID)}

    run = valkyr.start(ORDER, {"total": 1}, answers=answers)

    run.assert_state("RUNNING")
    assert "retried at" in run.table()
    run.advance_time().assert_state("SUCCESS")
    assert run.attempts("charge") == 2


def test_a_dead_letter_says_why(valkyr):
    broke = StepError("no money", ErrorType.PERMANENT)

    run = valkyr.start(ORDER, {"total": 1}, answers={"charge": broke})

    run.assert_state("FAILED")
    assert run.dead_letters == {"charge.main": "PERMANENT: no money"}


def test_a_failing_assertion_shows_every_run(valkyr):
    run = valkyr.start(ORDER, {"total": 1}, answers={"charge": StepError("no money")})

    with pytest.raises(
        AssertionError, match=r"(?s)expected SUCCESS, found FAILED.*charge\.main #1 "
    ):
        run.assert_state("SUCCESS")


@pytest.mark.parametrize("name", ["chrage", "http.requst"])
def test_an_answer_that_nothing_asks_for_is_refused(valkyr, name):
    with pytest.raises(AssertionError, match=rf"answers name '{name}'.*did you mean"):
        valkyr.start(ORDER, {"total": 1}, answers={name: {}})


def test_a_definition_with_problems_tells_them_all(valkyr):
    with pytest.raises(AssertionError, match=r"tasks\[0\]\.use: there is no module .flow\.nop"):
        valkyr.start({"tasks": [{"id": "a", "use": "flow.nop"}]})


def test_answers_may_be_worked_out_and_choose_an_outcome(valkyr):
    def charge(inputs, ctx):
        return {**PAID, "body": {"id": f"{inputs.url.split('/')[-1]}#{ctx.attempt}"}}

    answers = {"charge": charge, "size": Result({}, outcome="false")}
    run = valkyr.start(ORDER, {"total": 900}, answers=answers)

    assert run.output == {"charge": "charges#1"}


LISTENS = {
    "tasks": [
        {"id": "paid", "use": "flow.wait_for_event", "with": {"event": "paid"}},
        {"id": "called", "use": "flow.callback", "after": "paid:success"},
        {"id": "rest", "use": "flow.delay", "with": {"seconds": 86_400}, "after": "called:success"},
    ]
}


def test_events_signals_callbacks_and_timers_wake_it(valkyr):
    run = valkyr.start(LISTENS).send_event("paid", {"n": 1})
    assert run.outputs("paid")["event"] == {"n": 1}
    run.call_back("called", {"ok": True})
    assert run.outputs("called")["payload"] == {"ok": True}
    run.advance_time(timedelta(hours=23)).assert_state("RUNNING")
    run.advance_time(3600).assert_state("SUCCESS")

    signalled = valkyr.start(LISTENS).signal("paid", {"n": 2})
    assert signalled.outputs("paid")["event"] == {"n": 2}


def test_time_that_nothing_waits_for_is_not_passed(valkyr):
    with pytest.raises(AssertionError, match="no step waits for a time"):
        valkyr.start({"tasks": [{"id": "a", "use": "flow.noop"}]}).advance_time()


BODIES = {
    "tasks": [
        {
            "id": "each",
            "use": "flow.map",
            "with": {"items": [1, 2, 3]},
            "body": {
                "tasks": [
                    {"id": "call", "use": "http.request", "with": {"url": "https://a.example"}}
                ]
            },
        },
        {
            "id": "again",
            "use": "flow.loop",
            "after": "each",
            "with": {"count": 2},
            "body": {
                "tasks": [{"id": "turn", "use": "flow.noop", "with": {"value": "{{ loop.index }}"}}]
            },
        },
    ]
}


def test_bodies_are_gone_through_and_answered_place_by_place(valkyr):
    answers = {"each[1].call": {**PAID, "body": "second"}, "call": {**PAID, "body": "other"}}

    run = valkyr.start(BODIES, answers=answers).assert_state("SUCCESS")

    assert [run.outputs(f"each[{n}].call")["body"] for n in range(3)] == [
        "other",
        "second",
        "other",
    ]
    assert run.outputs("again[1].turn") == 1


def test_children_are_carried_with_their_parent(valkyr):
    valkyr.publish(
        {
            "name": "child",
            "tasks": [{"id": "work", "use": "http.request", "with": {"url": "https://a.example"}}],
            "output": "{{ tasks.work.output.body }}",
        }
    )
    parent = {
        "name": "parent",
        "tasks": [{"id": "sub", "use": "flow.subworkflow", "with": {"workflow": "child"}}],
    }

    run = valkyr.start(parent, answers={"work": PAID}).assert_state("SUCCESS")

    assert run.outputs("sub")["output"] == {"id": "ch_1"}
    assert [child.state for child in run.children] == ["SUCCESS"]


def test_credentials_reach_a_module_and_leave_no_trace(valkyr):
    valkyr.credential("bank", "bearer", token="very-secret-token")
    task = {
        "id": "call",
        "use": "http.request",
        "credential": "bank",
        "with": {"url": "https://a.example"},
    }
    seen = []

    def answer(inputs, ctx):
        seen.append(ctx.credential["token"])
        return {**PAID, "body": f"it was {ctx.credential['token']}"}

    run = valkyr.start({"tasks": [task]}, answers={"call": answer}).assert_state("SUCCESS")

    assert seen == ["very-secret-token"]
    assert run.outputs("call")["body"] == "it was [secret:bank.token]"


def test_runs_are_listed_in_the_order_in_which_they_ran(valkyr):
    def task(name: str, use: str, **given: str) -> dict:
        return {"id": name, "use": use, "queue": "io", "with": given}

    tasks = [
        task("first", "flow.noop"),
        task("second", "flow.noop") | {"after": "first"},
        task("third", "http.request", url="https://a.example") | {"after": "second"},
    ]

    run = valkyr.start({"tasks": tasks}, answers={"third": PAID}).assert_state("SUCCESS")

    run.assert_ran(["first", "second", "third"])


def test_a_module_runs_by_itself():
    assert run_module("flow.if", {"condition": True}).outcome == "true"
    assert run_module("flow.approval", {"title": "Well?"}).waits.kind == "approval"
    assert "on purpose" in failing_module("flow.fail", {"message": "on purpose"}).message
    assert failing_module("flow.if", {}).error_type is ErrorType.PERMANENT
    with pytest.raises(AssertionError, match=r"flow\.noop succeeded"):
        failing_module("flow.noop", {"value": 1})


class Remembers(Module[ModuleInputs]):
    """Set a variable to the secret."""

    type: ClassVar[str] = "test.remembers"
    title: ClassVar[str] = "Remembers"
    category: ClassVar[str] = "test"
    credentials: ClassVar[tuple[str, ...]] = ("bearer",)
    Inputs = ModuleInputs

    def execute(self, inputs, ctx):
        return Result({}, variables={"seen": f"it is {ctx.credential['token']}"})


def test_a_variable_that_a_module_sets_contains_no_secret():
    ended = run_module(Remembers(), credential={"token": "very-secret-token"})

    assert ended.variables == {"seen": "it is [secret:test.token]"}


def test_a_step_that_writes_with_its_record_runs_within_a_test_that_is_rolled_back(valkyr):
    modules.install()
    rows = {"name": "rows", "tasks": [
        {"id": "fails", "use": "test.row", "with": {"way": "fails"}},
        {"id": "writes", "use": "test.row", "after": "fails:error"},
    ]}  # fmt: skip

    run = valkyr.start({"schema": "valkyr/1"} | rows, {})

    run.assert_state("SUCCESS").assert_outcome("fails", "error")
    assert row_steps.rows(run.id) == [("writes.main", 1)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('transaction_timeout', true), '0')")
        assert cursor.fetchone() == ("0",), "the test's own transaction has no limit"
