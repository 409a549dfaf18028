"""A step's `with` is checked on publishing: all literal values, and nothing else."""

import pytest

from runners.modules import registry
from runners.modules.declared import declared

pytestmark = pytest.mark.plugins

VALID = {
    "celery.task": {"task": "shop.charge", "args": ["{{ input.x }}"]},
    "django.task": {"path": "shop.tasks.charge", "args": ["{{ input.x }}"]},
    "llm.chat": {"model": "gpt-4o-mini", "messages": "{{ input.text }}"},
    "llm.extract": {"model": "m", "messages": "a", "schema": {"type": "object"}},
    "llm.embed": {"model": "m", "texts": "{{ input.texts }}"},
    "llm.agent": {"model": "m", "prompt": "{{ input.text }}", "tools": [{"name": "find"}]},
    "llm.tool_call": {"call": "{{ item }}", "tools": [{"name": "find"}], "routes": ["find"]},
    "llm.tool_result": {"call": "{{ item }}", "results": {}},
    "llm.agent_turn": {"answer": "{{ tasks.model.output }}"},
    "mcp.call": {"url": "{{ vars.base }}/mcp", "tool": "find"},
    "mcp.tools": {"url": "{{ vars.base }}/mcp"},
    "quality.assess": {"text": "{{ previous.text }}"},
    "flow.noop": {},
    "flow.if": {"condition": "{{ input.x }}"},
    "flow.switch": {"value": "{{ input.x }}", "cases": ["a"]},
    "flow.fail": {"message": "m"},
    "flow.pinned": {"output": {"n": 1}, "outcome": "true", "outcomes": ["true", "false"]},
    "flow.loop": {"count": 3},
    "flow.map": {"items": "{{ input.items }}"},
    "flow.delay": {"seconds": 5},
    "flow.approval": {"title": "Ship?"},
    "flow.wait_for_event": {"event": "order.paid"},
    "flow.callback": {},
    "flow.subworkflow": {"workflow": "ship-order", "input": {"id": "{{ input.id }}"}},
    "flow.set_variables": {"values": {"a": "{{ input }}"}},
    "data.set": {"values": {}},
    "data.jmespath": {"expression": "a", "data": "{{ input }}"},
    "data.template": {"text": "Dear {{ input.name }}"},
    "data.csv_parse": {"text": "{{ input.csv }}"},
    "data.csv_write": {"rows": "{{ previous.rows }}"},
    "data.json_parse": {"text": "{{ input.json }}"},
    "data.xml_parse": {"text": "{{ input.xml }}"},
    "data.html_extract": {"html": "{{ input.html }}", "fields": {"title": "h1"}},
    "data.aggregate": {
        "rows": "{{ input.rows }}",
        "compute": {"total": {"function": "sum", "field": "price"}},
    },
    "data.deduplicate": {"rows": "{{ input.rows }}", "by": ["id"]},
    "data.sort": {"rows": "{{ input.rows }}", "by": ["id"]},
    "data.validate": {"data": "{{ input }}", "schema": {}},
    "http.request": {"url": "{{ vars.base }}/orders"},
    "http.paginate": {"url": "{{ vars.base }}/orders", "strategy": "link"},
    "graphql.query": {"url": "{{ vars.base }}/graphql", "query": "{ orders { id } }"},
    "rss.read": {"url": "{{ vars.feed }}"},
    "slack.post": {"text": "{{ input.text }}"},
    "webhook.post": {"url": "{{ vars.base }}/hook", "payload": "{{ previous }}"},
    "email.send": {"from": "a@b.example", "to": "{{ input.mail }}", "subject": "s"},
    "sql.query": {"statement": "SELECT 1"},
    "sql.execute": {
        "statement": "DELETE FROM t WHERE id = :id",
        "params": {"id": "{{ input.id }}"},
    },
    "archive.zip": {"paths": ["a"], "to": "a.zip"},
    "archive.unzip": {"path": "a.zip", "to": "a"},
    "file.read": {"path": "a"},
    "file.list": {"path": "orders", "pattern": "*.csv"},
    "file.delete": {"path": "orders/{{ input.day }}.csv"},
    "remote.step": {"handler": "render-video", "minutes": 5},
    "event.publish": {"event": "order.paid", "payload": {"id": "{{ input.id }}"}},
    "queue.publish": {"queue": "orders", "json": {"id": "{{ input.id }}"}},
    "python.code": {"code": "def main(inputs): ...", "inputs": "{{ input }}"},
    "javascript.code": {"code": "function main() {}", "inputs": "{{ input }}"},
    "stripe.payment_intent": {"amount": 1250, "currency": "eur", "paymentMethod": "{{ input.m }}"},
    "stripe.refund": {"paymentIntent": "{{ tasks.pay.output.id }}"},
    "stripe.customer": {"email": "{{ input.email }}"},
    "file.write": {"path": "a", "content": "{{ previous.text }}"},
}


def found(type_name, config):
    problems = registry.specs()[type_name].check(config)
    return [(problem.pointer, problem.code) for problem in problems]


def test_every_built_in_module_has_an_example_here():
    # A placeholder is never right: it is there to be replaced.
    others = {"n8n.placeholder"}
    assert VALID.keys() == declared().keys() - others


@pytest.mark.parametrize("type_name", VALID)
def test_a_good_config_has_no_problems(type_name):
    assert found(type_name, VALID[type_name]) == []


@pytest.mark.parametrize("type_name", sorted(VALID.keys() - {"remote.step"}))  # takes any
def test_an_unknown_key_is_named_with_those_that_are_known(type_name):
    config = {**VALID[type_name], "urll": 1}

    (problem,) = registry.specs()[type_name].check(config)

    assert (problem.pointer, problem.code) == (("urll",), "unknown_key")
    assert "known keys:" in problem.message


def test_all_problems_are_reported_at_once():
    config = {"method": "FETCH", "headers": [], "timeoutSeconds": 0, "maxBytes": "many", "x": 1}

    assert sorted(found("http.request", config)) == [
        (("headers",), "type"),
        (("maxBytes",), "type"),
        (("method",), "value"),
        (("timeoutSeconds",), "value"),
        (("url",), "required"),
        (("x",), "unknown_key"),
    ]


def test_a_template_stands_for_any_value():
    config = {
        "url": "{{ a }}",
        "method": "{{ b }}",
        "headers": "{{ c }}",
        "timeoutSeconds": "{{ d }}",
        "followRedirects": "{{ e }}",
        "acceptStatus": ["{{ f }}", 404],
        "query": {"page": "{{ g }}"},
    }

    assert found("http.request", config) == []


def test_what_is_written_out_beside_a_template_is_still_checked():
    config = {"url": "{{ a }}", "acceptStatus": ["{{ f }}", {"no": 1}], "headers": {"a": ["x"]}}

    assert sorted(pointer for pointer, _ in found("http.request", config)) == [
        ("acceptStatus", 1),
        ("headers", "a"),
    ]


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"url": 3}, "expected a text, found 3"),
        ({"url": None}, "expected a text, found None"),
        ({"url": "http://a.example", "maxBytes": 0}, "expected at least 1, found 0"),
        ({"url": "http://a.example", "timeoutSeconds": "soon"}, "expected a number"),
        ({"url": "x" * 9000}, "expected maxLength 8192, found 'xxx"),
    ],
)
def test_sentences_say_what_was_expected_and_found(config, sentence):
    (problem,) = registry.specs()["http.request"].check(config)

    assert sentence in problem.message
    assert len(problem.message) < 600


@pytest.mark.parametrize("config", [None, [], "{{ input }}", 3])
def test_a_config_that_is_no_object_is_one_problem(config):
    assert found("flow.noop", config) == [((), "type")]
