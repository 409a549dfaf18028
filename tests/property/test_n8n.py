"""The import of any JSON gives a definition of the right structure, or an error message."""

import json
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from executions.definition.catalog import catalog
from executions.definition.graph.problem import DefinitionError
from executions.definition.graph.schema import shape_problems
from executions.definition.graph.storable import storage_problems
from executions.definition.graph.validation import problems
from executions.definition.templates import inspect_template
from tests.plugins.n8n.exports import DATA, LEFT_TO_DO
from valkyr_plugins.n8n.conversion import convert
from valkyr_plugins.n8n.export import read_exports
from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.expressions.translation import translated
from valkyr_plugins.n8n.mapping import FAMILIES
from valkyr_plugins.n8n.shape import Sight, one
from valkyr_plugins.n8n.texts import Texts
from valkyr_plugins.n8n.triggers import MAKERS

RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
SAMPLES = [json.loads(path.read_text()) for path in sorted(DATA.rglob("*.json"))]
KINDS = sorted({*FAMILIES, *MAKERS, "splitInBatches", "stickyNote", "unheardOf"})
EXPRESSIONS = [
    "={{ $json.a }}", "={{ $('N1').item.json.b }}", "=x {{ $node['N0'].json }} y", "={{ f( }}",
    "={{", "{{ $env.X }}", "={{ $json.a.map(x => x) }}", "{% x %}", "={{ 1 + 'a' }}", "plain",
    "=[{{ $json }}]", '={"a": {{ $json.b }}}',
]  # fmt: skip

texts = st.one_of(st.sampled_from(EXPRESSIONS), st.text(max_size=10))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


def parameters() -> set[str]:
    """Return every key anywhere in the parameters of a sample node."""
    found: set[str] = set()
    pending: list[Any] = [node.get("parameters") for one in SAMPLES for node in one["nodes"]]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            found |= value.keys()
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return found


keys = st.sampled_from(sorted(parameters()))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 100) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=15,
)


@st.composite
def exports(draw: st.DrawFn) -> dict[str, Any]:
    """Draw graphs of all kinds of nodes, including cycles, with parameters that may be valid."""
    count = draw(st.integers(1, 8))
    names = [f"N{place}" for place in range(count)]
    sampled = [node["parameters"] for one in SAMPLES for node in one["nodes"]]
    nodes = [
        {
            "name": name,
            "type": f"n8n-nodes-base.{draw(st.sampled_from(KINDS))}",
            "typeVersion": draw(st.sampled_from([1, 2, 3, 4.2])),
            "position": [draw(st.integers(-900, 900)), 0],
            "parameters": draw(
                st.dictionaries(keys, values, max_size=5) | st.sampled_from(sampled)
            ),
            "disabled": draw(st.integers(0, 9)) == 0,
            "onError": draw(
                st.sampled_from([None, None, "continueErrorOutput", "continueRegularOutput"])
            ),
            "retryOnFail": draw(st.booleans()),
        }
        for name in names
    ]
    ends = st.tuples(
        st.sampled_from(names), st.integers(0, 2), st.sampled_from(names), st.integers(0, 1),
        st.sampled_from(["main", "main", "main", "main", "ai_languageModel", "ai_tool"]),
    )  # fmt: skip
    connections: dict[str, Any] = {}
    for source, output, target, place, kind in draw(st.lists(ends, max_size=14)):
        outputs = connections.setdefault(source, {}).setdefault(kind, [[], [], []])
        outputs[output].append({"node": target, "type": kind, "index": place})
    return {"name": draw(texts), "nodes": nodes, "connections": connections}


def converted(value: Any) -> dict[str, Any]:
    found = convert(read_exports(value)[0], catalog())
    assert len(found.report.rows) == sum(found.report.counts().values())
    return found.definition


@given(exports())
@RELAXED
def test_a_graph_of_any_nodes_becomes_a_definition_that_lacks_only_what_it_names(
    value: dict[str, Any],
) -> None:
    definition = converted(value)

    assert list(shape_problems(definition)) == []
    assert storage_problems(definition) == []
    left = [one for one in problems(definition, catalog()) if one.code not in LEFT_TO_DO]
    assert left == []
    event(f"{sum(1 for task in definition['tasks'] if 'body' in task)} bodies")


@given(exports())
@RELAXED
def test_the_same_export_becomes_the_same_definition(value: dict[str, Any]) -> None:
    assert json.dumps(converted(value)) == json.dumps(converted(value))


@given(anything | st.fixed_dictionaries({"nodes": anything, "connections": anything}))
@RELAXED
def test_any_json_is_converted_or_refused(value: Any) -> None:
    try:
        definition = converted(value)
    except DefinitionError:
        return
    assert list(shape_problems(definition)) == []


@given(st.sampled_from(SAMPLES), st.data())
@RELAXED
def test_a_real_export_with_anything_in_some_place_is_converted(
    sample: dict[str, Any], data: st.DataObject
) -> None:
    value = json.loads(json.dumps(sample))
    place: Any = value
    for _ in range(data.draw(st.integers(1, 7))):
        inner = list(place.items()) if isinstance(place, dict) else list(enumerate(place))
        if not inner:
            break
        key, below = data.draw(st.sampled_from(inner))
        if not isinstance(below, (dict, list)) or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(anything)
            break
        place = below
    try:
        definition = converted(value)
    except DefinitionError:
        return
    assert list(shape_problems(definition)) == []
    assert {one.code for one in problems(definition, catalog())} <= LEFT_TO_DO


@given(st.text("$json.ab[]()'\"{}+-|&?:=<>!`,1 ", max_size=40) | st.text(max_size=30))
@RELAXED
def test_any_expression_becomes_one_of_ours_or_is_refused(source: str) -> None:
    try:
        found = translated(source, Sight(one("input")))
    except Untranslatable:
        return
    _, mistakes = inspect_template("{{ " + found + " }}")
    event("written" if not mistakes else "would not compile")


@given(st.text("={{}}%$json. a'\"", max_size=30))
@RELAXED
def test_any_text_becomes_a_template_that_can_be_read(text: str) -> None:
    _, mistakes = inspect_template(Texts(Sight(one("input"))).text(text))

    assert [one.code for one in mistakes if one.code != "unfinished"] == []
