"""Tests of n8n's agents, models and parsers, and of programs that replace missing templates."""

import json
from typing import Any

import pytest

from tests.plugins.n8n.exports import chain, codes, converted, export, node, row, tasks
from valkyr_plugins.n8n.families import dates, digests, joins, programs, sums
from valkyr_plugins.n8n.families.agents import CALCULATOR

LANGCHAIN = "@n8n/n8n-nodes-langchain."
PYTHON_OFF = "python_code_off"
MODEL = node("Model", f"{LANGCHAIN}lmChatAnthropic", {"model": {"value": "claude-x"}},
             credentials={"anthropicApi": {"name": "Ours"}})  # fmt: skip
EXAMPLE = json.dumps({"name": "Ann", "age": 4, "tags": ["x"], "deep": {"ok": True}})
SCHEMA = {
    "type": "object", "required": ["name", "age", "tags", "deep"],
    "properties": {
        "name": {"type": "string"}, "age": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    },
}  # fmt: skip


def helped(main: Any, *helpers: tuple[Any, str], after: Any = None) -> Any:
    """Convert a node with helpers, each with the kind of its link."""
    begin = node("Begin", "manualTrigger")
    links: list[Any] = [("Begin", 0, main["name"])]
    links += [(helper["name"], f"ai_{kind}", main["name"]) for helper, kind in helpers]
    more = [after] if after else []
    links += [(main["name"], 0, after["name"])] if after else []
    return converted(export(begin, main, *(one for one, _ in helpers), *more, links=links))


def test_a_parser_makes_a_chain_an_extraction() -> None:
    parser = node("Form", f"{LANGCHAIN}outputParserStructured", {"jsonSchemaExample": EXAMPLE})
    ask = node("Ask", f"{LANGCHAIN}chainLlm", {"text": "Who?"}, 1.5)
    uses = node("Uses", "set", {"values": {"string": [
        {"name": "who", "value": "={{ $json.output.name }}"}]}, "keepOnlySet": True})  # fmt: skip

    found = helped(ask, (MODEL, "languageModel"), (parser, "outputParser"), after=uses)

    task = tasks(found)["ask"]
    assert (task["use"], task["with"]["schema"]) == ("llm.extract", SCHEMA)
    assert task["with"]["baseUrl"] == "https://api.anthropic.com/v1"
    assert task["credential"] == "ours"
    assert tasks(found)["uses"]["with"]["values"] == {"who": "{{ tasks.ask.output.data.name }}"}
    assert [row(found, name).status for name in ("Model", "Form")] == ["mapped", "mapped"]
    assert codes(found) == set()


def test_a_parser_without_a_form_says_so() -> None:
    parser = node("Form", f"{LANGCHAIN}outputParserStructured", {})
    inner = node("Fix", f"{LANGCHAIN}outputParserAutofixing", {})
    ask = node("Ask", f"{LANGCHAIN}agent", {"text": "Who?"}, 2)
    begin = node("Begin", "manualTrigger")
    links = [("Begin", 0, "Ask"), ("Model", "ai_languageModel", "Ask"),
             ("Fix", "ai_outputParser", "Ask"), ("Form", "ai_outputParser", "Fix")]  # fmt: skip

    found = converted(export(begin, ask, MODEL, parser, inner, links=links))

    assert tasks(found)["ask"]["with"]["schema"] == {"type": "object"}
    assert "does not have the form" in " ".join(row(found, "Ask").remarks)
    assert [row(found, name).module for name in ("Fix", "Form")] == ["llm.extract"] * 2


def test_an_agents_tools_are_tasks_with_the_models_arguments() -> None:
    mail = node(
        "Send Mail",
        "gmailTool",
        {
            "sendTo": "ann@example.com",
            "subject": "Hi",
            "message": "={{ /*n8n-auto*/ $fromAI('Text', `What to say`, 'string') }}",
        },
        2.1,
    )
    call = node(
        "Look Up",
        f"{LANGCHAIN}toolHttpRequest",
        {
            "url": "https://a.example/{city}",
            "placeholderDefinitions": {
                "values": [{"name": "city", "description": "A town's name", "type": "string"}]
            },
        },
        1.1,
    )
    other = node(
        "Ask Shop",
        f"{LANGCHAIN}toolWorkflow",
        {
            "name": "shop",
            "description": "Asks",
            "workflowId": {"value": "x", "cachedResultName": "Shop"},
        },
        1.3,
    )
    code = node("Program", f"{LANGCHAIN}toolCode", {"jsCode": "return 1"})
    sums = node("Sums", f"{LANGCHAIN}toolCalculator", {})
    agent = node(
        "Agent",
        f"{LANGCHAIN}agent",
        {"text": "Help", "options": {"maxIterations": 4, "systemMessage": "Be kind."}},
        2,
    )

    found = helped(agent, (MODEL, "languageModel"), *((one, "tool") for one in
                                                    (mail, call, other, code, sums)))  # fmt: skip

    by_id = tasks(found)
    assert by_id["agent"]["use"] == "flow.loop"
    assert by_id["agent"]["with"]["maxIterations"] == 4
    tools = by_id["agent_ask"]["with"]["tools"]
    assert [tool["name"] for tool in tools] == [
        "Send_Mail", "Look_Up", "shop", "Program", "Sums",
    ]  # fmt: skip
    assert tools[0]["parameters"] == {
        "type": "object", "required": ["Text"],
        "properties": {"Text": {"type": "string", "description": "What to say"}},
    }  # fmt: skip
    assert by_id["send_mail"]["with"]["html"] == "{{ item.arguments.Text }}"
    assert "item.arguments.city" in by_id["look_up"]["with"]["url"]
    assert by_id["ask_shop"]["with"]["input"] == {"query": "{{ item.arguments.query }}"}
    assert by_id["program"]["use"] == "n8n.placeholder"
    statuses = {name: row(found, name).status for name in ("Agent", "Model", "Program", "Sums")}
    assert statuses == {
        "Agent": "changed", "Model": "mapped", "Program": "left", "Sums": "changed",
    }  # fmt: skip
    assert codes(found) <= {"placeholder", "unfinished", PYTHON_OFF}


def test_a_tool_does_not_read_the_item_around_the_agent() -> None:
    many = node("Many", "splitOut", {"fieldToSplitOut": "rows"}, 1)
    agent = node("Agent", f"{LANGCHAIN}agent", {"text": "={{ $json.name }}"}, 2)
    tool = node("Note", "setTool", {"values": {"string": [
        {"name": "a", "value": "={{ $json.name }}"}]}, "keepOnlySet": True})  # fmt: skip
    begin = node("Begin", "manualTrigger")
    links = [("Begin", 0, "Many"), ("Many", 0, "Agent"), ("Model", "ai_languageModel", "Agent"),
             ("Note", "ai_tool", "Agent")]  # fmt: skip

    found = converted(export(begin, many, agent, MODEL, tool, links=links))

    assert "todo(" in tasks(found)["note"]["with"]["values"]["a"]
    assert tasks(found)["agent_prompt"]["with"]["value"][0]["content"] == "{{ item.name }}"


def test_many_tools_are_read_in_groups() -> None:
    tools = [node(f"T{place}", f"{LANGCHAIN}toolThink", {}) for place in range(70)]
    agent = node("Agent", f"{LANGCHAIN}agent", {"text": "Help"}, 2)

    found = helped(agent, (MODEL, "languageModel"), *((tool, "tool") for tool in tools))

    assert codes(found) == set()
    assert len(tasks(found)["agent_ask"]["with"]["tools"]) == 70


def test_a_memory_is_left_and_says_why() -> None:
    memory = node("Memory", f"{LANGCHAIN}memoryBufferWindow", {})
    agent = node("Agent", f"{LANGCHAIN}agent", {"text": "Help"}, 2)

    found = helped(agent, (MODEL, "languageModel"), (memory, "memory"))

    about = row(found, "Memory")
    assert about.status == "left"
    assert "keep the messages in a database" in about.remarks[0]
    assert tasks(found)["agent"]["use"] == "llm.chat"


def test_a_classifier_is_a_question_and_a_switch() -> None:
    which = node(
        "Which",
        f"{LANGCHAIN}textClassifier",
        {
            "inputText": "x",
            "options": {"fallback": "other"},
            "categories": {
                "categories": [{"category": "tea", "description": "Leaves"}, {"category": "coffee"}]
            },
        },
    )

    found = helped(which, (MODEL, "languageModel"), after=node("Tea", "noOp"))

    by_id = tasks(found)
    words = by_id["which_category"]["with"]["schema"]["properties"]["category"]["enum"]
    assert words == ["tea", "coffee", "other"]
    assert list(by_id["which"]["with"]["cases"]) == words
    pairs = {(edge["from"], edge["on"], edge["to"]) for edge in found.definition["edges"]}
    assert {("which_category", "success", "which"), ("which", "tea", "tea")} <= pairs
    assert codes(found) == set()


@pytest.mark.parametrize(
    ("kind", "parameters", "use", "after"),
    [
        ("informationExtractor", {"text": "x", "attributes": {"attributes": [
            {"name": "total", "type": "number", "description": "With tax", "required": True}]}},
         "llm.extract", "{{ tasks.it.output.data.total }}"),
        ("chainSummarization", {}, "llm.chat", "{{ tasks.it.output.text }}"),
    ],
)  # fmt: skip
def test_a_chain_asks_its_model(kind: str, parameters: Any, use: str, after: str) -> None:
    name = "output.total" if use == "llm.extract" else "response"
    uses = node("Uses", "set", {"values": {"string": [
        {"name": "a", "value": "={{ $json." + name + " }}"}]}, "keepOnlySet": True})  # fmt: skip

    found = helped(node("It", LANGCHAIN + kind, parameters), (MODEL, "languageModel"), after=uses)

    assert tasks(found)["it"]["use"] == use
    assert tasks(found)["uses"]["with"]["values"]["a"] == after


@pytest.mark.parametrize(
    ("kind", "parameters", "use"),
    [
        (f"{LANGCHAIN}googleGemini", {"modelId": {"value": "models/g"}, "messages": {"values": [
            {"content": "Hi"}]}}, "llm.chat"),
        ("perplexity", {"model": "sonar", "messages": {"message": [{"content": "Hi"}]}},
         "llm.chat"),
        (f"{LANGCHAIN}openAi", {"resource": "image", "prompt": "A cup"}, "http.request"),
        (f"{LANGCHAIN}openAi", {"resource": "image", "operation": "analyze", "text": "What?",
         "modelId": {"value": "m"}, "imageUrls": "https://a.example/x.png"}, "llm.chat"),
        ("form", {"operation": "completion", "completionTitle": "Done"}, "flow.noop"),
        ("form", {"formFields": {"values": []}}, "flow.callback"),
        (f"{LANGCHAIN}chat", {"message": "Hi"}, "flow.callback"),
        (f"{LANGCHAIN}chat", {"message": "Hi", "waitUserReply": False}, "flow.noop"),
        ("facebookGraphApi", {"node": "me", "edge": "photos"}, "http.request"),
        ("graphql", {"endpoint": "https://a.example/", "query": "{ a }"}, "graphql.query"),
        ("moveBinaryData", {"mode": "jsonToBinary"}, "data.template"),
    ],
)  # fmt: skip
def test_a_node_becomes_a_module_that_can_be_published(
    kind: str, parameters: Any, use: str
) -> None:
    found = chain(node("It", kind, parameters, 1))

    assert tasks(found)["it"]["use"] == use
    assert row(found, "It").status in ("mapped", "changed")
    assert codes(found) == set()


def test_agents_that_are_tools_of_each_other_are_left() -> None:
    one, two = (node(name, f"{LANGCHAIN}openAi", {"messages": {"values": [{"content": "Hi"}]}})
                for name in ("One", "Two"))  # fmt: skip
    links = [("Begin", 0, "One"), ("Two", "ai_tool", "One"), ("One", "ai_tool", "Two"),
             ("Two", "ai_tool", "Two")]  # fmt: skip

    found = converted(export(node("Begin", "manualTrigger"), one, two, links=links))

    assert codes(found) <= {"placeholder", "unfinished"}
    assert "tools of each other" in str(row(found, "Two").remarks + row(found, "One").remarks)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("dateTime", {"operation": "addToDate", "magnitude": "2026-01-31", "duration": 1,
                      "timeUnit": "months"}),
        ("crypto", {"type": "SHA256", "value": "x"}),
        ("code", {"language": "python", "pythonCode": "return [{'json': {'n': 1}}]"}),
        ("splitOut", {"fieldToSplitOut": "a, b"}),
        ("summarize", {"fieldsToSummarize": {"values": [
            {"aggregation": "concatenate", "field": "a"}]}}),
    ],
)  # fmt: skip
def test_a_program_says_that_it_must_be_allowed(kind: str, parameters: Any) -> None:
    rows = node("Rows", "splitOut", {"fieldToSplitOut": "rows"}, 1)
    before = [rows] if kind in ("summarize", "code") else []
    found = chain(*before, node("It", kind, parameters, 2))

    assert tasks(found)["it"]["use"] == "python.code"
    assert programs.PYTHON in row(found, "It").remarks
    assert codes(found) <= {PYTHON_OFF}


def result(code: str, inputs: Any) -> Any:
    """Return the result of a program of the importer."""
    names: dict[str, Any] = {}
    exec(compile(code, "program", "exec"), names)
    return names["main"](inputs)


def moved(**more: Any) -> Any:
    base = {"date": "2026-01-31T10:00:00Z", "add": [], "until": None, "units": [], "format": ""}
    return result(dates.DATES, base | more)


def test_dates_are_reckoned() -> None:
    assert moved(add=[["months", 1]]) == "2026-02-28T10:00:00+00:00"
    assert moved(add=[["hours", -12]]) == "2026-01-30T22:00:00+00:00"
    assert moved(add=[["years", 1]], format="%d.%m.%Y") == "31.01.2027"
    assert moved(until="2026-02-02", units=["days"]) == {"days": pytest.approx(1.5833, abs=1e-3)}
    assert moved(date=1_769_853_600_000) == "2026-01-31T10:00:00+00:00"


def test_sums_pairs_and_columns_are_worked_out() -> None:
    rows = [{"t": "a", "n": 1}, {"t": "b", "n": 2}, {"t": "a", "n": 3}]
    wanted = [["concatenated_n", "concatenate", "n", "/"], ["sum_n", "sum", "n", ""]]
    assert result(sums.SUMS, {"rows": rows, "sums": wanted, "groups": ["t"]}) == [
        {"t": "a", "concatenated_n": "1/3", "sum_n": 4},
        {"t": "b", "concatenated_n": "2", "sum_n": 2},
    ]
    assert result(joins.PAIRS, {"lists": [[{"a": 1}, {"a": 2}], {"b": 3}]}) == [
        {"a": 1, "b": 3}, {"a": 2, "b": 3},
    ]  # fmt: skip
    item = {"x": {"id": [1, 2]}, "name": ["a"]}
    assert result(sums.ZIPPED, {"item": item, "names": ["x.id", "name"]}) == [
        {"x.id": 1, "name": "a"}, {"x.id": 2},
    ]  # fmt: skip
    told = {"value": "x", "type": "md5", "encoding": "hex"}
    assert result(digests.DIGESTS, told) == "9dd4e461268c8034f5c8564e155c67a6"


@pytest.mark.parametrize(
    ("expression", "expected"), [("2 + 3 * (4 - 1)", 11), ("2^10", 1024), ("-7 % 4", 1)]
)
def test_the_calculator_works_out_numbers(expression: str, expected: float) -> None:
    assert result(CALCULATOR, {"expression": expression}) == expected


def test_the_calculator_runs_nothing_else() -> None:
    with pytest.raises(ValueError, match="only numbers"):
        result(CALCULATOR, {"expression": "__import__('os')"})


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("telegramTrigger", "as the service sends it"),
        ("gmailTrigger", "by the clock"),
        ("githubTrigger", "as the service sends it"),
    ],
)
def test_an_apps_trigger_is_a_webhook_that_someone_must_call(kind: str, says: str) -> None:
    uses = node("Uses", "set", {"values": {"string": [
        {"name": "a", "value": "={{ $json.body.a }}"}]}, "keepOnlySet": True})  # fmt: skip
    found = converted(export(node("On", kind), uses, links=[("On", 0, "Uses")]))

    about = row(found, "On")
    assert (about.status, about.module) == ("changed", "WEBHOOK")
    assert says in about.remarks[0]
    read = "input.a" if kind == "githubTrigger" else "input.body.a"
    assert tasks(found)["uses"]["with"]["values"]["a"] == "{{ " + read + " }}"
