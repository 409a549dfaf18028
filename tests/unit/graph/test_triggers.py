import pytest

from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import CATALOG, definition


def found(*triggers):
    document = definition(triggers=list(triggers))
    return {(problem.path, problem.code) for problem in problems(document, CATALOG)}


def cron(**more):
    return {"type": "CRON", "schedule": "0 2 * * *"} | more


def event(text):
    return {"type": "EVENT", "event": "order.created", "filter": text}


def queue(broker):
    return {"type": "QUEUE", "queue": "orders", "broker": broker}


@pytest.mark.parametrize(
    "trigger",
    [
        cron(timezone="Europe/Berlin", overlap="cancelPrevious", catchUp="all", catchUpLimit=1000),
        cron(jitterSeconds=3600, startAt="2026-03-01T08:00:00+01:00", endAt="2026-03-01T07:00:01Z"),
        cron(startAt=None, endAt=None),
        {"type": "WEBHOOK"},
        {"type": "WEBHOOK", "auth": "bearer", "respond": "result", "timeoutSeconds": 60},
        {"type": "EVENT", "event": "order.created"},
        event(None),
        event("{{ event.total > 0 and event.lines | length > 1 }}"),
        {"type": "QUEUE", "queue": "orders"},
        queue(None),
        queue("redis://cache.example.org:6379/2"),
        queue("amqps://guest@mq.example.org/vhost"),
        queue("env:ORDERS_BROKER"),
    ],
)
def test_every_type_of_trigger_can_be_published(trigger):
    assert found(trigger) == set()


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * *",
        "61 * * * *",
        "0 0 31 2 *",
        "@daily",
        "0 0 L * *",
        "0 0 * * mon#1",
        "0 0 * * caturday",
        "R * * * *",
    ],
)
def test_a_schedule_that_is_not_five_plain_fields_or_never_fires_is_refused(schedule):
    assert found(cron(schedule=schedule)) == {("triggers[0].schedule", "bad_schedule")}


@pytest.mark.parametrize(
    ("trigger", "key", "code"),
    [
        (cron(overlap="wait"), "overlap", "value"),
        (cron(catchUp="some"), "catchUp", "value"),
        (cron(catchUpLimit=0), "catchUpLimit", "value"),
        (cron(catchUpLimit=1001), "catchUpLimit", "value"),
        (cron(jitterSeconds=3601), "jitterSeconds", "value"),
        (cron(startAt="2026-03-01"), "startAt", "bad_instant"),
        (cron(startAt="2026-03-01T08:00:00"), "startAt", "bad_instant"),
        (cron(endAt="tomorrow"), "endAt", "bad_instant"),
        (cron(startAt="2026-03-01T08:00:00Z", endAt="2026-03-01T09:00:00+01:00"), "endAt", "value"),
        (cron(startAt="0001-01-01T00:00:00+23:00"), "startAt", "bad_instant"),
        ({"type": "WEBHOOK", "auth": "none"}, "auth", "value"),
        ({"type": "WEBHOOK", "respond": "later"}, "respond", "value"),
        ({"type": "WEBHOOK", "timeoutSeconds": 61}, "timeoutSeconds", "value"),
        ({"type": "WEBHOOK", "secret": "x"}, "secret", "unknown_key"),
        ({"type": "EVENT"}, "event", "required"),
        ({"type": "EVENT", "event": ""}, "event", "value"),
        ({"type": "EVENT", "event": "x" * 201}, "event", "value"),
        ({"type": "EVENT", "event": "two\nlines"}, "event", "bad_name"),
        ({"type": "QUEUE"}, "queue", "required"),
        ({"type": "QUEUE", "queue": " orders"}, "queue", "bad_name"),
        ({"type": "SMOKE"}, "type", "value"),
        ({}, "type", "required"),
    ],
)
def test_a_mistake_in_a_trigger_has_its_own_path_and_code(trigger, key, code):
    assert found(trigger) == {(f"triggers[0].{key}", code)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("always", "not_an_expression"),
        ("", "not_an_expression"),
        ("total is {{ event.total }}", "not_an_expression"),
        ("{{ event.a }}{{ event.b }}", "not_an_expression"),
        ("{{ event.total > }}", "template_syntax"),
        ("{{ event.total", "template_syntax"),
        ("{{ input.total > 0 }}", "event_only"),
        ("{{ event.total > vars.least }}", "event_only"),
        ("{{ tasks.a.output }}", "event_only"),
    ],
)
def test_a_filter_is_one_expression_over_the_event_alone(text, code):
    assert found(event(text)) == {("triggers[0].filter", code)}


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://example.org", "bad_broker"),
        ("redis://", "bad_broker"),
        ("redis://[::1", "bad_broker"),
        ("amqp://example.org:99999", "bad_broker"),
        ("env:", "bad_broker"),
        ("env:MY-URL", "bad_broker"),
        ("{{ vars.broker }}", "bad_broker"),
        ("redis://:hunter2@example.org", "secret_in_definition"),
        ("amqp://user:hunter2@example.org", "secret_in_definition"),
        ("redis://example.org?password=hunter2", "secret_in_definition"),
        ("amqp://a.example;amqp://user:hunter2@b.example", "secret_in_definition"),
        ("amqp://a.example;http://b.example", "bad_broker"),
    ],
)
def test_a_broker_s_address_is_one_and_holds_no_password(address, code):
    document = definition(triggers=[queue(address)])

    [problem] = problems(document, CATALOG)

    assert (problem.path, problem.code) == ("triggers[0].broker", code)
    assert "hunter2" not in problem.message
