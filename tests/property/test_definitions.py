import json
from operator import itemgetter
from uuid import UUID

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import DefinitionError, load_text, normalise
from executions.definition.graph.resolve import checksum, resolve
from executions.definition.graph.validation import problems
from executions.definition.graph.yaml_text import dump_yaml, read_yaml
from executions.definition.templates import TemplateError, TemplateSyntaxProblems, compile_template
from tests.unit.graph.catalog import CATALOG, definition, noop
from tests.unit.graph.containers import CONTAINERS

WORKFLOW = UUID("0190aaaa-0000-7000-8000-000000000000")
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=20)
keys = st.sampled_from(
    [
        "schema",
        "name",
        "tasks",
        "edges",
        "id",
        "use",
        "with",
        "modules",
        "after",
        "on",
        "from",
        "to",
        "retry",
        "jitter",
        "triggers",
        "type",
        "schedule",
        "timezone",
        "settings",
        "priority",
        "variables",
        "input",
        "output",
        "queue",
        "join",
        "$ref",
        "ui",
        "body",
        "cache",
        "ttlSeconds",
        "concurrency",
        "key",
        "onFailure",
        "checkpoint",
        "count",
        "until",
        "items",
        "event",
        "filter",
        "broker",
        "startAt",
    ]
)
words = st.sampled_from(
    [
        "a",
        "b",
        "flow.noop",
        "flow.if",
        "a:true",
        "CRON",
        "0 0 * * *",
        "flow.loop",
        "flow.map",
        "WEBHOOK",
        "EVENT",
        "QUEUE",
        "{{ tasks.a.output }}",
        "{{ loop.index }}",
        "{{ item }}",
        "{{",
        "#",
        "env:",
        "redis://x",
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | words
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | texts, inner, max_size=5),
    max_leaves=40,
)


@RELAXED
@given(values)
def test_any_json_value_has_problems_or_none_and_never_an_error(value):
    for problem in problems(value, CONTAINERS):
        assert problem.code
        assert problem.message


@RELAXED
@given(
    st.fixed_dictionaries(
        {
            "tasks": values,
            "edges": values,
            "input": values,
            "triggers": values,
            "settings": values,
        }
    )
)
def test_any_content_of_a_definition_has_problems_or_none_and_never_an_error(parts):
    problems(definition() | parts, CONTAINERS)
    normalise(definition() | parts)


@RELAXED
@given(st.dictionaries(texts, values, max_size=6))
def test_a_document_is_the_same_from_yaml_and_from_json(document):
    document = json.loads(json.dumps(document))

    as_json = json.dumps(document, ensure_ascii=False)

    assert load_text(as_json, content_type="json") == document
    assert load_text(as_json, content_type="yaml") == document
    assert load_text(dump_yaml(document), content_type="yaml") == document


BREAKS = ("\n", "\r", "\x85", "\u2028", "\u2029", " ", "\t", "\x00", "\ufeff", "a", "word ", "# ")
any_texts = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(
    st.sampled_from(BREAKS), max_size=60
).map("".join)


@RELAXED
@given(st.dictionaries(any_texts, any_texts | st.lists(any_texts, max_size=3), max_size=4))
@example({"k": "a\x85b"})
@example({"a\x85b": ["\u2028", {"k": "a\n\x85b"}]})
def test_every_text_is_read_back_from_yaml_as_it_was_written(document):
    assert read_yaml(dump_yaml(document)) == document


@RELAXED
@given(st.text(max_size=200))
def test_any_text_is_a_document_or_a_definition_error(text):
    for content_type in ("yaml", "json"):
        try:
            assert isinstance(load_text(text, content_type=content_type), dict)
        except DefinitionError as error:
            assert error.problems  # noqa: PT017 - either is right


@RELAXED
@given(st.lists(st.sampled_from(list("{}[]()'\"%|.+-*~ ai1_:,\\")), max_size=30).map("".join))
def test_any_template_renders_or_says_why_not(source):
    try:
        compile_template("{{" + source + "}}").render({"a": {"i": [1]}, "i": 1})
    except (TemplateError, TemplateSyntaxProblems) as error:
        assert str(error)  # noqa: PT017 - either is right


@st.composite
def sound_definitions(draw):
    count = draw(st.integers(0, 12))
    tasks = []
    for index in range(count):
        before = draw(st.lists(st.integers(0, index - 1), unique=True)) if index else []
        config = {"v": [f"{{{{ tasks.t{place}.output }}}}" for place in before]}
        after = [f"t{place}" for place in before]
        tasks.append(noop(f"t{index}", after=after, **{"with": config}))
    return definition(draw(st.permutations(tasks)))


@RELAXED
@given(sound_definitions())
def test_a_sound_definition_compiles_to_the_same_tasks_edges_and_reads(document):
    assert problems(document, CATALOG) == []

    graph = compile_graph(resolve(document, CATALOG), WORKFLOW)

    for task in document["tasks"]:
        compiled = graph.tasks[graph.task_by_id[task["id"]]]
        before = {graph.task_by_id[name] for name in task["after"]}
        assert {edge.source for edge in compiled.incoming} == before
        assert graph.steps[compiled.steps[0]].reads == before
        assert all(
            graph.order.index(source) < graph.order.index(compiled.index) for source in before
        )
    assert checksum(document) == checksum(normalise(document))


IDS = ("a", "b", "c", "d")
READS = tuple(
    f"{{{{ {name} }}}}"
    for name in (
        *(f"tasks.{task}.{what}" for task in IDS for what in ("output", "history")),
        "loop.index",
        "loop.previous",
        "item",
        "index",
        "vars.n",
        "input.x",
        "previous",
        "tasks",
    )
)
OUTCOMES = ("success", "true", "error")
_id = itemgetter("id")


@st.composite
def bodies(draw, depth=0):
    """Draw tasks and edges, most of which, but not all, fit together."""
    tasks = [draw(body_tasks(task, depth)) for task in draw(st.permutations(IDS))[: draw(sizes)]]
    edges = []
    for index, task in enumerate(tasks):
        for before in (
            draw(st.lists(st.sampled_from(tasks[:index]), max_size=2, unique_by=_id))
            if index
            else ()
        ):
            usual = "true" if before["use"] == "flow.if" else "success"
            on = draw(st.sampled_from((usual,) * 8 + OUTCOMES))
            edges.append({"from": before["id"], "to": task["id"], "on": on})
    if draw(seldom):
        edges.append({"from": draw(st.sampled_from(IDS)), "to": draw(st.sampled_from(IDS))})
    return {"tasks": tasks, "edges": edges}


@st.composite
def body_tasks(draw, task_id, depth):
    use = draw(st.sampled_from(USES if depth < 3 else USES[:3]))
    template = draw(st.sampled_from(READS))
    value = template if draw(seldom) else "{{ input.x }}"
    match use:
        case "flow.loop":
            ending = draw(st.sampled_from([{"count": 2}, {"count": value}, {"until": template}]))
            return {"id": task_id, "use": use, "with": ending, "body": draw(bodies(depth + 1))}
        case "flow.map":
            return {"id": task_id, "use": use, "with": {"items": value}} | {
                "body": draw(bodies(depth + 1))
            }
        case "flow.if":
            return {"id": task_id, "use": use, "with": {"condition": value}}
        case "flow.set_variables":
            return {"id": task_id, "use": use, "with": {"values": {"n": value}}}
    return noop(task_id, **{"with": {"v": value}})


USES = ("flow.noop", "flow.if", "flow.set_variables", "flow.loop", "flow.map")
sizes = st.sampled_from([1, 1, 2, 2, 3, 4])
seldom = st.sampled_from([False] * 5 + [True])


@RELAXED
@given(bodies())
def test_whatever_validates_resolves_and_compiles_bodies_and_all(body):
    document = definition(variables={"n": 0}) | body
    found = problems(document, CONTAINERS)
    event("sound" if not found else found[0].code)
    if found:
        return

    resolved = resolve(document, CONTAINERS)
    graph = compile_graph(resolved, WORKFLOW)

    assert resolve(normalise(document), CONTAINERS) == resolved
    assert json.loads(json.dumps(resolved)) == resolved
    assert_alike(graph, document)


def assert_alike(graph, body):
    assert [task.id for task in graph.tasks] == [task["id"] for task in body["tasks"]]
    assert sum(len(task.incoming) for task in graph.tasks) == len(body["edges"])
    for task, document in zip(graph.tasks, body["tasks"], strict=True):
        assert (task.body is None) == ("body" not in document)
        if task.body is not None:
            assert task.body.kind == document["use"].removeprefix("flow.")
            assert_alike(task.body, document["body"])
