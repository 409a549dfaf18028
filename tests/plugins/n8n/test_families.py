"""Each kind of node, with its module."""

from typing import Any

import pytest

from tests.plugins.n8n.exports import chain, codes, converted, edges, export, node, row, tasks

CONDITION = {
    "conditions": [{"leftValue": "={{ $json.a }}", "rightValue": "x",
                    "operator": {"type": "string", "operation": "contains"}}],
    "combinator": "and",
}  # fmt: skip
BEFORE = node(
    "Before", "set", {"values": {"string": [{"name": "a", "value": "1"}]}, "keepOnlySet": True}
)
READ = "tasks.before.output"


def only(kind: str, parameters: Any, version: float = 1, **more: Any) -> Any:
    """Return the task of one node after a Set."""
    found = chain(BEFORE, node("It", kind, parameters, version, **more))
    assert codes(found) == set(), row(found, "It")
    return tasks(found)["it"]


@pytest.mark.parametrize(
    ("kind", "version", "parameters", "use", "config"),
    [
        ("httpRequest", 4.2, {"url": "https://a.example/", "method": "=PUT"},
         "http.request", {"method": "PUT", "url": "https://a.example/"}),
        ("httpRequest", 1, {"url": "https://a.example/", "requestMethod": "POST",
         "jsonParameters": True, "bodyParametersJson": '={"a": "{{$json["a"]}}"}'},
         "http.request", {"method": "POST", "url": "https://a.example/",
                          "json": {"a": "{{ " + READ + ".a }}"}}),
        ("httpRequest", 4.2, {"url": "=https://a.example/{{ $json.a }}", "sendQuery": True,
         "queryParameters": {"parameters": [{"name": "q", "value": "tea"}]},
         "options": {"timeout": 5000, "redirect": {"redirect": {"followRedirects": False}}}},
         "http.request", {"method": "GET", "url": "https://a.example/{{ " + READ + ".a }}",
                          "query": {"q": "tea"}, "timeoutSeconds": 5, "followRedirects": False}),
        ("httpRequest", 4.2, {"url": "https://a.example/", "method": "POST", "sendBody": True,
         "contentType": "form-urlencoded",
         "bodyParameters": {"parameters": [{"name": "a", "value": "b"}]}},
         "http.request", {"method": "POST", "url": "https://a.example/", "form": {"a": "b"}}),
        ("if", 1, {"conditions": {"number": [{"value1": "={{$json.a}}", "operation": "larger",
         "value2": 3}]}}, "flow.if", {"condition": "{{ " + READ + ".a > 3 }}"}),
        ("if", 1, {"conditions": {"number": [{"value1": "={{$json.a}}", "operation": "smaller",
         "value2": 3.5}]}}, "flow.if", {"condition": "{{ " + READ + ".a < 3.5 }}"}),
        ("if", 2.2, {"conditions": CONDITION}, "flow.if",
         {"condition": '{{ "x" in ' + READ + ".a }}"}),
        ("filter", 2, {"conditions": {**CONDITION, "combinator": "or", "conditions": [
            {"leftValue": "={{ $json.a }}", "operator": {"type": "string", "operation": "empty"}},
            {"leftValue": "={{ $json.b }}", "operator": {"type": "boolean", "operation": "true"}},
         ]}}, "flow.if",
         {"condition": "{{ (not (" + READ + ".a | default(none))) or (" + READ + ".b) }}"}),
        ("switch", 1, {"dataType": "string", "value1": "={{ $json.a }}", "fallbackOutput": 3,
         "rules": {"rules": [{"value2": "x"}, {"output": 1, "value2": "y"}]}}, "flow.switch",
         {"value": "{{ " + READ + ".a }}", "cases": {"x": "x", "y": "y"}, "default": "fallback"}),
        ("switch", 3.2, {"rules": {"values": [{"conditions": CONDITION, "renameOutput": True,
         "outputKey": "tea"}]}}, "flow.switch",
         {"value": '{{ "tea" if "x" in ' + READ + '.a else "" }}', "cases": ["tea"],
          "default": "fallback"}),
        ("set", 3.4, {"assignments": {"assignments": [
            {"name": "b.c", "type": "number", "value": "4"},
            {"name": "d", "type": "boolean", "value": "true"},
            {"name": "e", "type": "array", "value": "[1, 2]"}]}}, "data.set",
         {"values": {"b": {"c": 4}, "d": True, "e": [1, 2]}}),
        ("set", 3.4, {"mode": "raw", "jsonOutput": '={"a": {{ $json.a }}}'}, "data.set",
         {"values": {"a": "{{ " + READ + ".a }}"}}),
        ("noOp", 1, {}, "flow.noop", {}),
        ("noOp", 1, {"text": "x", "options": {}}, "flow.noop", {}),
        ("wait", 1.1, {"amount": 2, "unit": "minutes"}, "flow.delay", {"seconds": 120}),
        ("wait", 1.1, {"amount": "={{ $json.a }}", "unit": "hours"}, "flow.delay",
         {"seconds": "{{ " + READ + ".a * 3600 }}"}),
        ("wait", 1.1, {"resume": "specificTime", "dateTime": "2027-01-31T08:00:00-05:00"},
         "flow.delay", {"until": "2027-01-31T08:00:00-05:00"}),
        ("wait", 1.1, {"resume": "specificTime", "dateTime": "2027-01-31T08:00:00"},
         "flow.delay", {"until": "2027-01-31T08:00:00Z"}),
        ("wait", 1.1, {"resume": "webhook"}, "flow.callback", {"title": "It"}),
        ("stopAndError", 1, {"errorMessage": "=No {{ $json.a }}"}, "flow.fail",
         {"message": "No {{ " + READ + ".a }}"}),
        ("emailSend", 2.1, {"fromEmail": "a@example.com", "toEmail": "b@example.com, c@example.com",
         "subject": "S", "emailFormat": "text", "text": "=Hi {{ $json.a }}"}, "email.send",
         {"from": "a@example.com", "to": ["b@example.com", "c@example.com"], "subject": "S",
          "text": "Hi {{ " + READ + ".a }}"}),
        ("emailSend", 2.1, {"fromEmail": "a@example.com", "subject": "S",
         "toEmail": "={{ $json.a }}, b@example.com",
         "options": {"ccEmail": "={{ [$json.a, $json.b].join(',') }}"},
         "emailFormat": "text", "text": "Hi"}, "email.send",
         {"from": "a@example.com", "to": ["{{ " + READ + ".a }}", "b@example.com"],
          "cc": '{{ [' + READ + '.a, ' + READ + '.b] | join(",") }}', "subject": "S",
          "text": "Hi"}),
        ("slack", 1, {"text": "Hi", "channel": "#news"}, "slack.post",
         {"text": "Hi", "channel": "#news"}),
        ("postgres", 2.5, {"operation": "executeQuery",
         "query": "=SELECT * FROM t WHERE a = '{{ $json.a }}' AND d::date > now()"}, "sql.query",
         {"statement": "SELECT * FROM t WHERE a = :p1 AND d::date > now()",
          "params": {"p1": "{{ " + READ + ".a }}"}}),
        ("postgres", 2.5, {"operation": "executeQuery", "query": "DELETE FROM t WHERE a = $1",
         "options": {"queryReplacement": "={{ $json.a }}"}}, "sql.execute",
         {"statement": "DELETE FROM t WHERE a = :q1", "params": {"q1": "{{ " + READ + ".a }}"}}),
        ("postgres", 1, {"table": "tweets", "columns": "a, b"}, "sql.execute",
         {"statement": "INSERT INTO tweets (a, b) VALUES (:a, :b) RETURNING *",
          "params": {"a": "{{ " + READ + ".a }}", "b": "{{ " + READ + ".b }}"}}),
        ("xml", 1, {"dataPropertyName": "a"}, "data.xml_parse", {"text": "{{ " + READ + ".a }}"}),
        ("html", 1.2, {"operation": "generateHtmlTemplate", "html": "<b>{{ $json.a }}</b>"},
         "data.template", {"text": "<b>{{ " + READ + ".a }}</b>"}),
        ("rssFeedRead", 1.1, {"url": "https://a.example/feed"}, "rss.read",
         {"url": "https://a.example/feed"}),
        ("executeWorkflow", 1.2, {"workflowId": {"value": "x1", "cachedResultName": "Weekly"}},
         "flow.subworkflow", {"workflow": "weekly", "input": "{{ " + READ + " }}"}),
        ("sort", 1, {"sortFieldsUi": {"sortField": [{"fieldName": "a", "order": "descending"}]}},
         "data.sort", {"rows": "{{ [" + READ + "] }}",
                       "by": [{"field": "a", "order": "descending"}]}),
        ("splitOut", 1, {"fieldToSplitOut": "a"}, "flow.noop", {"value": "{{ " + READ + ".a }}"}),
        ("aggregate", 1, {"aggregate": "aggregateAllItemData"}, "data.set",
         {"values": {"data": "{{ [" + READ + "] }}"}}),
        ("itemLists", 1, {"fieldToSplitOut": "a"}, "flow.noop", {"value": "{{ " + READ + ".a }}"}),
        ("removeDuplicates", 1, {"fieldsToCompare": "a, b"}, "data.deduplicate",
         {"rows": "{{ [" + READ + "] }}", "by": ["a", "b"]}),
        ("summarize", 1, {"fieldsToSummarize": {"values": [{"aggregation": "sum", "field": "a"}]}},
         "data.aggregate", {"rows": "{{ [" + READ + "] }}",
                            "compute": {"sum_a": {"function": "sum", "field": "a"}}}),
        ("dateTime", 2, {"operation": "formatDate", "date": "={{ $now }}", "format": "yyyy"},
         "data.set", {"values": {"formattedDate": "{{ execution.startedAt[0:4] }}"}}),
        ("@n8n/n8n-nodes-langchain.openAi", 1.6, {"modelId": {"value": "gpt-4o"}, "messages": {
            "values": [{"role": "system", "content": "Be brief."}, {"content": "={{ $json.a }}"}]},
         "options": {"maxTokens": 50}}, "llm.chat",
         {"model": "gpt-4o", "system": "Be brief.", "messages": "{{ " + READ + ".a }}",
          "maxTokens": 50}),
        ("respondToWebhook", 1, {"respondWith": "text", "responseBody": "ok"}, "flow.noop",
         {"value": "ok"}),
    ],
)  # fmt: skip
def test_a_node_becomes_its_module(
    kind: str, version: float, parameters: Any, use: str, config: Any
) -> None:
    task = only(kind, parameters, version)

    assert (task["use"], task["with"]) == (use, config)


@pytest.mark.parametrize(
    ("kind", "parameters", "says"),
    [
        ("code", {}, "does not hold its program"),
        ("function", {"functionCode": "return require('fs');"}, "loads modules (require)"),
        ("editImage", {"name": "x"}, "no module for n8n-nodes-base.editImage"),
        ("merge", {"mode": "mergeByKey"}, "by which fields it joins"),
        ("merge", {"mode": "combineBySql"}, "by SQL"),
        ("dateTime", {"action": "calculate"}, "reckon"),
        ("postgres", {"operation": "upsert"}, "upsert"),
        ("slack", {"resource": "channel"}, "posts messages"),
        ("executeWorkflow", {"source": "url", "workflowUrl": "https://a.example"}, "file or an"),
        ("slack2.noOp", {}, "no module for slack2.noOp"),
    ],
)
def test_what_has_no_equal_is_a_placeholder_that_says_so_and_keeps_it(
    kind: str, parameters: Any, says: str
) -> None:
    found = chain(BEFORE, node("It", kind, parameters))

    task = tasks(found)["it"]
    assert (task["use"], row(found, "It").status) == ("n8n.placeholder", "left")
    assert says in task["with"]["reason"]
    assert task["with"]["parameters"] == parameters
    assert codes(found) == {"placeholder"}


@pytest.mark.parametrize(
    ("kind", "parameters", "field", "was"),
    [
        ("emailSend", {"fromEmail": "a@b.example", "toEmail": "YOUR_EMAIL", "text": "x"}, "to",
         "YOUR_EMAIL"),
        ("httpRequest", {"url": "=/v1/orders"}, "url", "/v1/orders"),
        ("slack", {"text": "=", "channelId": "C1"}, "text", "text"),
    ],
)  # fmt: skip
def test_a_text_that_the_module_rejects_is_left_to_the_user(
    kind: str, parameters: Any, field: str, was: str
) -> None:
    found = chain(BEFORE, node("It", kind, parameters, 2))

    assert tasks(found)["it"]["with"][field] == '{{ todo("' + was + '") }}'
    assert row(found, "It").status == "changed"
    assert codes(found) == {"unfinished"}


def test_a_feed_without_an_address_is_left_to_the_user() -> None:
    found = chain(BEFORE, node("It", "rssFeedRead", {}))

    assert tasks(found)["it"]["with"] == {"url": '{{ todo("the address") }}'}
    assert codes(found) == {"unfinished"}


@pytest.mark.parametrize(
    "parameters",
    [
        {"action": "generate"},
        {"action": "generate", "encodingType": "hex", "stringLength": 8},
        {"action": "hmac", "type": "SHA256", "value": "x", "secret": "={{ $json.key }}"},
    ],
)
def test_random_values_and_signatures_are_programs(parameters: Any) -> None:
    assert only("crypto", parameters)["use"] == "python.code"


def test_a_signature_with_a_secret_is_left() -> None:
    found = chain(BEFORE, node("It", "crypto", {"action": "hmac", "secret": "s3cret-s3cret"}))

    assert "does not take" in row(found, "It").remarks[-1]
    assert "s3cret-s3cret" not in str(found.definition)


def test_a_type_with_braces_is_kept_as_words() -> None:
    found = chain(BEFORE, node("It", "x{{ $json.a }}"))

    assert tasks(found)["it"]["with"]["nodeType"] == "x[[ $json.a ]]"
    assert codes(found) == {"placeholder"}


def test_the_outputs_of_a_switch_have_different_outcomes() -> None:
    rules = [
        {"conditions": CONDITION, "renameOutput": True, "outputKey": "output1"},
        {"conditions": CONDITION},
        {"conditions": CONDITION, "renameOutput": True, "outputKey": "output1_2"},
    ]
    names = ("A", "B", "C", "Rest")
    found = converted(
        export(
            node("Begin", "manualTrigger"), node("It", "switch", {"rules": {"values": rules}}, 3.2),
            *(node(name, "noOp") for name in names),
            links=[("Begin", 0, "It"), *(("It", place, name) for place, name in enumerate(names))],
        )
    )  # fmt: skip

    assert {edge for edge in edges(found) if edge[0] == "it"} == {
        ("it", "output1", "a"), ("it", "output1_2", "b"), ("it", "output2", "c"),
        ("it", "fallback", "rest"),
    }  # fmt: skip
    assert tasks(found)["it"]["with"]["cases"] == ["output1", "output1_2", "output2"]
    assert codes(found) == set()


@pytest.mark.parametrize(
    ("kind", "parameters", "schedules"),
    [
        ("scheduleTrigger", {"rule": {"interval": [{}]}}, ["0 0 * * *"]),
        ("scheduleTrigger", {"rule": {"interval": [{"field": "minutes"}]}}, ["*/5 * * * *"]),
        ("scheduleTrigger", {"rule": {"interval": [{"field": "weeks", "triggerAtDay": [1, 5],
         "triggerAtHour": 9, "triggerAtMinute": 30}]}}, ["30 9 * * 1,5"]),
        ("scheduleTrigger", {"rule": {"interval": [{"field": "months",
         "triggerAtDayOfMonth": 15}]}}, ["0 0 15 * *"]),
        ("scheduleTrigger", {"rule": {"interval": [{"field": "hours", "hoursInterval": 6},
         {"field": "cronExpression", "expression": "0 2 * * 1-5"}]}},
         ["0 */6 * * *", "0 2 * * 1-5"]),
        ("cron", {"triggerTimes": {"item": [{"hour": 8}]}}, ["0 8 * * *"]),
        ("cron", {"triggerTimes": {"item": [{"mode": "custom",
         "cronExpression": "0 0 6-12 * * 1-5"}]}}, ["0 6-12 * * 1-5"]),
        ("interval", {"unit": "minutes", "interval": 10}, ["*/10 * * * *"]),
    ],
)  # fmt: skip
def test_schedules_become_cron_triggers(kind: str, parameters: Any, schedules: list[str]) -> None:
    found = converted(
        export(node("When", kind, parameters), node("It", "noOp"), links=[("When", 0, "It")],
               settings={"timezone": "Europe/Berlin"})
    )  # fmt: skip

    assert found.definition["triggers"] == [
        {"type": "CRON", "schedule": schedule, "timezone": "Europe/Berlin"}
        for schedule in schedules
    ]
    assert codes(found) == set()


def test_a_chat_becomes_a_webhook_with_its_message() -> None:
    uses = {"values": {"string": [{"name": "a", "value": "={{ $json.chatInput }}"}]}}
    found = converted(
        export(node("Chat", "@n8n/n8n-nodes-langchain.chatTrigger"),
               node("It", "set", uses | {"keepOnlySet": True}), links=[("Chat", 0, "It")])
    )  # fmt: skip

    assert found.definition["triggers"] == [{"type": "WEBHOOK", "auth": "bearer"}]
    assert tasks(found)["it"]["with"]["values"]["a"] == "{{ input.chatInput }}"
    assert row(found, "Chat").status == "changed"


def test_an_unknown_trigger_is_a_placeholder_before_what_it_leads_to() -> None:
    found = converted(
        export(node("New deal", "workflowTrigger"),
               node("It", "set", {"values": {"string": [{"name": "a", "value": "={{$json.b}}"}]},
                                  "keepOnlySet": True}), links=[("New deal", 0, "It")])
    )  # fmt: skip

    assert tasks(found)["new_deal"]["use"] == "n8n.placeholder"
    assert tasks(found)["it"]["with"]["values"]["a"] == "{{ input.b }}"


def test_fields_that_a_set_passes_on_are_read_where_they_came_from() -> None:
    adds = {"values": {"string": [{"name": "b", "value": "2"}]}}
    uses = {"values": {"string": [{"name": "c", "value": "={{ $json.a }}{{ $json.b }}"}]}}
    found = chain(
        BEFORE, node("Adds", "set", adds), node("Uses", "set", uses | {"keepOnlySet": True})
    )

    assert tasks(found)["uses"]["with"]["values"]["c"] == (
        "{{ tasks.before.output.a }}{{ tasks.adds.output.b }}"
    )


def test_what_follows_a_database_works_on_its_rows_one_by_one() -> None:
    query = {"operation": "executeQuery", "query": "SELECT id FROM t"}
    call = {"url": "=https://a.example/{{ $json.id }}"}
    found = chain(node("Rows", "postgres", query, 2.5), node("Call", "httpRequest", call, 4.2))

    assert tasks(found)["rows_items"]["with"]["items"] == "{{ tasks.rows.output.rows }}"
    assert tasks(found)["call"]["with"]["url"] == "https://a.example/{{ item.id }}"


def test_a_no_operation_with_parameters_passes_on_and_names_them() -> None:
    found = chain(BEFORE, node("It", "noOp", {"text": "x", "model": "y"}))

    assert row(found, "It").status == "changed"
    assert "text, model" in row(found, "It").remarks[0]


@pytest.mark.parametrize(
    ("kind", "parameters", "use"),
    [
        ("httpRequest", {}, "http.request"),
        ("splitOut", {"fieldToSplitOut": "a"}, "flow.noop"),
        ("aggregate", {"aggregate": "aggregateAllItemData"}, "data.set"),
        ("summarize", {"fieldsToSummarize": {"values": [{"field": "a"}]}}, "data.aggregate"),
        ("merge", {"mode": "combine", "combineBy": "combineByPosition"}, "data.jmespath"),
        ("splitInBatches", {}, "flow.map"),
    ],
)
def test_what_a_file_does_not_say_is_to_be_filled_in(kind: str, parameters: Any, use: str) -> None:
    found = chain(node("Hook", "webhook"), node("It", kind, parameters, 3))

    assert (tasks(found)["it"]["use"], row(found, "It").status) == (use, "changed")
    assert codes(found) == {"unfinished"}
