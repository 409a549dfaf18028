"""Modules that wait: their waits, and their results after they wake up."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from runners.modules import registry
from runners.modules.base import Result, StepError, Wait
from runners.states import WaitKind


def run(type_name, config, context):
    return registry.get(type_name).run(config, context)


def woken(type_name, config, wake, context):
    return registry.get(type_name).run(config, context, wake)


def codes(type_name, config):
    return [problem.code for problem in registry.specs()[type_name].check(config)]


@pytest.mark.parametrize(
    "name", ["flow.delay", "flow.approval", "flow.wait_for_event", "flow.callback"]
)
def test_what_waits_holds_no_worker_and_is_safe_to_repeat(name):
    spec = registry.specs()[name]

    assert (spec.waits, spec.inline, spec.effect, spec.queue) == (True, False, "none", "default")


def test_a_delay_sleeps_for_so_many_seconds(step_context):
    assert run("flow.delay", {"seconds": 1.5}, step_context) == Wait(WaitKind.TIMER, seconds=1.5)


def test_a_delay_sleeps_until_an_instant(step_context):
    until = datetime.now(UTC) + timedelta(hours=1)

    found = run("flow.delay", {"until": until.isoformat()}, step_context)

    assert found == Wait(WaitKind.TIMER, until=until)


@pytest.mark.parametrize(
    "config", [{"seconds": 0}, {"seconds": -5}, {"until": "2020-01-01T00:00:00Z"}]
)
def test_a_delay_that_is_over_already_goes_on_at_once(config, step_context):
    assert run("flow.delay", config, step_context) == Result({"waitedSeconds": 0.0})


def test_a_delay_says_how_long_it_was(step_context):
    wake = {"by": "timer", "waitedSeconds": 1.25}

    assert woken("flow.delay", {"seconds": 1}, wake, step_context) == Result(
        {"waitedSeconds": 1.25}
    )


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "delay_length"),
        ({"seconds": 1, "until": "2030-01-01T00:00:00Z"}, "delay_length"),
        ({"seconds": 366 * 86_400}, "value"),
        ({"seconds": "soon"}, "type"),
        ({"until": "2030-01-01T00:00:00"}, "value"),
        ({"until": "tomorrow"}, "value"),
        ({"until": 1_900_000_000}, "type"),
        ({"minutes": 1}, "unknown_key"),
    ],
)
def test_a_delay_is_checked_when_it_is_published(config, code):
    assert codes("flow.delay", config) == [code]


def test_a_delays_length_may_be_a_template():
    assert codes("flow.delay", {"seconds": "{{ input.seconds }}"}) == []


@pytest.mark.parametrize("config", [{}, {"seconds": 1, "until": "2030-01-01T00:00:00Z"}])
def test_a_delay_needs_one_length_when_it_runs(config, step_context):
    with pytest.raises(StepError, match="either seconds or until"):
        run("flow.delay", config, step_context)


def test_a_delay_is_a_year_at_most(step_context):
    until = (datetime.now(UTC) + timedelta(days=366)).isoformat()
    with pytest.raises(StepError, match="the maximum is 365 days"):
        run("flow.delay", {"until": until}, step_context)
    with pytest.raises(ValidationError):
        run("flow.delay", {"seconds": float("nan")}, step_context)


def test_an_approval_waits_for_a_person(step_context):
    config = {"title": "Refund?", "approvers": ["maria"], "expiresSeconds": 60}

    assert run("flow.approval", config, step_context) == Wait(
        WaitKind.APPROVAL,
        seconds=60,
        facts={"title": "Refund?", "description": "", "approvers": ["maria"]},
    )


def test_an_approval_without_an_expiry_waits_for_ever(step_context):
    assert run("flow.approval", {"title": "Refund?"}, step_context).seconds is None


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_an_approval_ends_as_it_was_decided(decision, step_context):
    wake = {
        "by": "person",
        "decision": decision,
        "comment": "so be it",
        "actor": "maria",
        "at": "2026-11-21T12:00:00+00:00",
        "waitedSeconds": 3,
    }

    assert woken("flow.approval", {"title": "Refund?"}, wake, step_context) == Result(
        {
            "decision": decision,
            "comment": "so be it",
            "by": "maria",
            "at": "2026-11-21T12:00:00+00:00",
        },
        decision,
    )


def test_an_approval_nobody_decides_expires(step_context):
    wake = {"by": "timer", "waitedSeconds": 60}

    assert woken("flow.approval", {"title": "Refund?"}, wake, step_context) == Result(
        {"decision": "expired", "comment": "", "by": None, "at": None}, "expired"
    )


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "required"),
        ({"title": ""}, "value"),
        ({"title": "x", "approvers": "maria"}, "type"),
        ({"title": "x", "approvers": [""]}, "value"),
        ({"title": "x", "expiresSeconds": 0}, "value"),
    ],
)
def test_an_approval_is_checked_when_it_is_published(config, code):
    assert codes("flow.approval", config) == [code]


def test_a_wait_for_an_event_listens_for_its_name(step_context):
    config = {"event": "order.paid", "timeoutSeconds": 60}

    assert run("flow.wait_for_event", config, step_context) == Wait(
        WaitKind.EVENT, seconds=60, key="order.paid", facts={"event": "order.paid"}
    )


def test_a_wait_for_an_event_ends_with_the_event(step_context):
    wake = {
        "by": "event",
        "event": "order.paid",
        "eventId": "e-1",
        "payload": {"total": 3},
        "waitedSeconds": 1,
    }

    assert woken("flow.wait_for_event", {"event": "order.paid"}, wake, step_context) == Result(
        {"event": {"total": 3}, "eventId": "e-1", "name": "order.paid"}, "success"
    )


def test_a_wait_for_an_event_that_does_not_come_times_out(step_context):
    wake = {"by": "timer", "waitedSeconds": 60}

    assert woken("flow.wait_for_event", {"event": "order.paid"}, wake, step_context) == Result(
        {"event": None, "eventId": None, "name": "order.paid"}, "timeout"
    )


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "required"),
        ({"event": ""}, "value"),
        ({"event": " paid"}, "value"),
        ({"event": "x" * 201}, "value"),
        ({"event": "paid", "filter": "event.total > 0"}, "not_an_expression"),
        ({"event": "paid", "filter": "no {{ event.total }}"}, "not_an_expression"),
        ({"event": "paid", "filter": True}, "type"),
        ({"event": "paid", "timeoutSeconds": -1}, "value"),
    ],
)
def test_a_wait_for_an_event_is_checked_when_it_is_published(config, code):
    assert codes("flow.wait_for_event", config) == [code]


def test_a_filter_is_rendered_when_an_event_comes():
    assert registry.specs()["flow.wait_for_event"].deferred == ("filter",)
    assert codes("flow.wait_for_event", {"event": "paid", "filter": "{{ event.total > 0 }}"}) == []


def test_a_callback_waits_to_be_called(step_context):
    config = {"title": "the bank", "timeoutSeconds": 60}

    assert run("flow.callback", config, step_context) == Wait(
        WaitKind.CALLBACK, seconds=60, facts={"title": "the bank"}
    )


def test_a_callback_ends_with_what_was_sent(step_context):
    wake = {
        "by": "callback",
        "payload": [1],
        "receivedAt": "2026-11-21T12:00:00+00:00",
        "waitedSeconds": 1,
    }

    assert woken("flow.callback", {}, wake, step_context) == Result(
        {"payload": [1], "receivedAt": "2026-11-21T12:00:00+00:00"}, "success"
    )


def test_a_callback_nobody_calls_times_out(step_context):
    wake = {"by": "timer", "waitedSeconds": 60}

    assert woken("flow.callback", {}, wake, step_context) == Result(
        {"payload": None, "receivedAt": None}, "timeout"
    )
