"""Connections become edges; multiple items get a body; unsupported graphs are rejected."""

from executions.definition.catalog import catalog
from executions.definition.graph.validation import problems
from tests.plugins.n8n.exports import (
    chain,
    codes,
    converted,
    edges,
    export,
    node,
    row,
    sample,
    tasks,
)

WAY = "n8n.placeholder"


def test_the_outputs_of_a_gate_are_its_outcomes() -> None:
    found = converted(sample("order-webhook"))

    assert edges(found) == {
        ("edit_fields", "success", "large"),
        ("large", "true", "reserve"),
        ("large", "false", "too_small"),
        ("reserve", "success", "tell"),
    }
    assert codes(found) == set()


def test_a_webhooks_body_is_the_input_and_an_answers_body_is_what_follows_reads() -> None:
    given = tasks(converted(sample("order-webhook")))

    assert given["edit_fields"]["with"]["values"]["total"] == "{{ input.total }}"
    assert given["large"]["with"]["condition"] == "{{ tasks.edit_fields.output.total > 100 }}"
    assert given["tell"]["with"]["value"]["reserved"] == "{{ tasks.reserve.output.body.reserved }}"


def test_a_webhooks_answer_is_the_output() -> None:
    definition = converted(sample("order-webhook")).definition

    assert definition["triggers"] == [
        {"type": "WEBHOOK", "auth": "bearer", "respond": "result", "timeoutSeconds": 30}
    ]
    assert definition["output"] == "{{ tasks.too_small.output or tasks.tell.output }}"


def test_an_answer_in_a_body_is_reported_and_is_not_the_output() -> None:
    found = converted(
        export(
            node("Hook", "webhook", {"responseMode": "responseNode"}, 2),
            node("Split", "splitOut", {"fieldToSplitOut": "body.rows"}),
            node("Call", "httpRequest", {"url": "=https://a.example/{{ $json.id }}"}, 4.2),
            node("Respond", "respondToWebhook", {"respondWith": "text", "responseBody": "ok"}),
            links=[("Hook", 0, "Split"), ("Split", 0, "Call"), ("Call", 0, "Respond")],
        )
    )  # fmt: skip

    assert row(found, "Respond").status == "changed"
    assert [one for one in row(found, "Respond").remarks if "inside a body" in one]
    assert "output" not in found.definition


def test_items_that_are_many_are_worked_on_in_a_body_until_something_takes_them_all() -> None:
    found = converted(sample("feed-digest"))
    given = tasks(found)

    body = given["read_the_feed_items"]
    assert (body["use"], body["with"]["items"]) == (
        "flow.map", "{{ tasks.read_the_feed.output.entries }}",
    )  # fmt: skip
    assert given["about_n8n"]["with"]["condition"] == '{{ "n8n" in item.title }}'
    assert given["newest_ten"]["with"]["value"].startswith("{{ (tasks.read_the_feed_items.output")
    # n8n has another name for the date than rss.read.
    assert 'attribute="published"' in given["gather"]["with"]["values"]["dates"]
    assert codes(found) == set()


def test_a_plain_loop_over_items_is_a_map_one_after_another() -> None:
    found = converted(sample("loop-over-customers"))
    loop = tasks(found)["loop_over_items"]

    assert loop["with"] == {"items": "{{ tasks.fetch_customers.output.body }}", "maxConcurrency": 1}
    assert [task["id"] for task in loop["body"]["tasks"]] == ["greet", "breathe", "out"]
    assert loop["body"]["tasks"][0]["with"]["to"] == "{{ item.email }}"
    assert tasks(found)["fetch_customers"]["retry"] == {
        "maxAttempts": 4, "baseSeconds": 2.0, "maxSeconds": 2.0, "jitter": 0,
    }  # fmt: skip
    assert codes(found) == set()


def test_batches_of_several_are_lists_in_the_body() -> None:
    loop = node("Loop", "splitInBatches", {"batchSize": 5}, 3)
    call = node("Call", "httpRequest", {"url": "=https://a.example/{{ $json.id }}"}, 4.2)
    found = converted(
        export(
            node("Begin", "manualTrigger"), node("List", "splitOut", {"fieldToSplitOut": "all"}),
            loop, call,
            links=[("Begin", 0, "List"), ("List", 0, "Loop"), ("Loop", 1, "Call"),
                   ("Call", 0, "Loop")],
        )
    )  # fmt: skip

    given = tasks(found)
    assert given["loop"]["with"]["items"] == "{{ tasks.list.output | batch(5) | list }}"
    assert given["loop_items"]["with"]["items"] == "{{ item }}"
    assert given["call"]["with"]["url"] == "https://a.example/{{ item.id }}"
    assert codes(found) == set()


def test_a_way_back_that_is_no_plain_loop_is_a_placeholder() -> None:
    found = converted(sample("tries-until-it-works"))

    assert ("a_while", "success", "back_to_ask") in edges(found)
    assert tasks(found)["back_to_ask"]["use"] == WAY
    assert "flow.loop" in tasks(found)["back_to_ask"]["with"]["reason"]
    assert {one.code for one in problems(found.definition, catalog())} == {"placeholder"}


def test_what_goes_on_after_an_error_has_both_edges_and_an_error_output_its_own() -> None:
    both = edges(converted(sample("tries-until-it-works")))
    own = edges(converted(sample("branches-that-meet")))

    assert {("ask", "success", "ready"), ("ask", "error", "ready")} <= both
    assert {("charge", "success", "stock"), ("charge", "error", "give_up")} <= own


def test_a_merge_waits_for_all_unless_only_one_branch_is_taken() -> None:
    given = tasks(converted(sample("branches-that-meet")))

    assert given["both"]["join"] == "all"
    assert "join" not in given["meet"]
    assert given["charge"]["with"]["url"] == (
        "https://pay.example.com/{{ (tasks.at_home.output or tasks.abroad.output).postage }}"
    )


def test_a_disabled_node_passes_on_what_it_gets() -> None:
    found = chain(
        node("Fetch", "httpRequest", {"url": "https://a.example/"}, 4.2),
        node("Off", "slack", {"text": "x"}, 2, disabled=True),
        node("Set", "set", {"values": {"string": [{"name": "n", "value": "={{ $json.n }}"}]},
                            "keepOnlySet": True}),
    )  # fmt: skip

    assert tasks(found)["off"]["use"] == "flow.noop"
    assert tasks(found)["set"]["with"]["values"]["n"] == "{{ tasks.fetch.output.body.n }}"
    assert row(found, "Off").status == "changed"


def test_nodes_that_no_trigger_leads_to_hang_behind_a_placeholder() -> None:
    found = converted(sample("tries-until-it-works"))

    assert ("not_connected", "success", "loose") in edges(found)
    assert any("No trigger leads to 1 node" in remark for remark in found.report.remarks)


def test_without_a_trigger_what_is_pasted_begins_with_the_input() -> None:
    values = {"string": [{"name": "a", "value": "={{ $json.b }}"}]}
    found = converted([node("Set", "set", {"values": values, "keepOnlySet": True})])

    assert tasks(found)["set"]["with"]["values"] == {"a": "{{ input.b }}"}
    assert codes(found) == set()


def test_triggers_that_begin_at_different_nodes_are_a_thing_to_mend() -> None:
    found = converted(
        export(
            node("By hand", "manualTrigger"), node("Hourly", "scheduleTrigger"),
            node("One", "noOp"), node("Two", "noOp"),
            links=[("By hand", 0, "One"), ("Hourly", 0, "Two")],
        )
    )  # fmt: skip

    assert {("several_triggers", "success", "one"), ("several_triggers", "success", "two")} <= (
        edges(found)
    )


def test_a_node_is_read_only_where_it_comes_before_for_certain() -> None:
    value = {"values": {"string": [{"name": "a", "value": "={{ $('Other').item.json.b }}"}]}}
    found = converted(
        export(
            node("Begin", "manualTrigger"), node("Set", "set", value | {"keepOnlySet": True}),
            node("Other", "noOp"),
            links=[("Begin", 0, "Set"), ("Begin", 0, "Other")],
        )
    )  # fmt: skip

    assert codes(found) == {"unfinished"}
    assert "does not always run before" in row(found, "Set").remarks[0]


def test_a_model_becomes_a_part_of_the_chain_it_helps_and_agents_with_tools_are_left() -> None:
    found = converted(sample("model-and-pages"))

    assert row(found, "Model").task == "sum_up"
    assert tasks(found)["sum_up"]["with"]["model"] == "gpt-4o-mini"
    assert (row(found, "Agent").status, row(found, "Search").status) == ("left", "left")


def test_places_names_and_notes_come_along() -> None:
    found = converted(sample("order-webhook"))

    assert tasks(found)["reserve"]["ui"] == {"x": 924, "y": -80}
    assert tasks(found)["large"]["name"] == "Large?"
    assert found.definition["ui"]["notes"] == [
        {"id": "note1", "x": 0, "y": -240, "w": 420, "h": 180, "color": "green",
         "text": "## Orders\nLarge ones are reserved."},
    ]  # fmt: skip


def test_names_that_are_alike_become_ids_that_are_not() -> None:
    found = chain(
        node("Same thing", "noOp"), node("same-thing", "noOp"), node("1. Überblick", "noOp")
    )

    assert list(tasks(found)) == ["n_1_uberblick", "same_thing_2", "same_thing"]
