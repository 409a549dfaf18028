"""Templates are compared with modules' declared outputs; open outputs are never reported."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text
from executions.definition.graph.types import Missing, Typed
from executions.definition.graph.validation import warnings
from tests.unit.graph.catalog import CATALOG, spec

EXAMPLES = Path(__file__).parents[3] / "examples"
WORKFLOWS = sorted(EXAMPLES.glob("*/*.yaml"))


class Line(BaseModel):
    sku: str
    count: int


class Answer(BaseModel):
    status: int
    body: Any
    headers: dict[str, str]
    lines: list[Line]
    note: str | None = None
    either: Line | list[str] = Field(default_factory=list)


class Wanted(BaseModel):
    count: int = 0
    name: str = ""
    maybe: int | None = None
    lines: list[Line] = []
    map: dict[str, str] = {}
    any: Any = None


KNOWN = CATALOG | {
    "shop.call": spec("shop.call", outputs_schema=Answer.model_json_schema(mode="serialization")),
    "shop.take": spec("shop.take", inputs_schema=Wanted.model_json_schema()),
}


def found(config: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    call = {"id": "call", "use": "shop.call"}
    take = {"id": "take", "use": "shop.take", "after": "call", "with": config}
    document = {"schema": "valkyr/1", "name": "t", "tasks": [call, take], **more}
    return [(warning.code, warning.message) for warning in warnings(document, KNOWN)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ tasks.call.output.boddy }}", 'has no "boddy"; did '),
        ("{{ tasks.call.output.zzz }}", "it has status, body, headers, lines, note, either"),
        ("{{ tasks.call.output.lines[0].sk }}", '"tasks.call.output.lines[0]" has no "sk"'),
        ("{{ tasks.call.output.lines.sku }}", '"tasks.call.output.lines" is a list'),
        ("{{ tasks.call.output.status.code }}", '"tasks.call.output.status" is text or a number'),
        ("{{ tasks.call.output.headers.a.b }}", '"tasks.call.output.headers.a" is text'),
        ("{{ tasks.call.output.note.x }}", '"tasks.call.output.note" is text or a number'),
        ("It is {{ tasks.call.output.stat }}.", "did you mean"),
        ("{{ tasks.call.output.statis + 1 }}", 'did you mean "status"'),
    ],
)
def test_a_path_that_an_output_does_not_have_is_told(text, message):
    ((code, told),) = found({"any": text})

    assert code == "unknown_output"
    assert message in told


@pytest.mark.parametrize(
    "text",
    [
        "{{ tasks.call.output }}",
        "{{ tasks.call.output.body.any.thing[3].goes }}",
        "{{ tasks.call.output.headers.anything }}",
        "{{ tasks.call.output.lines[-1].sku }}",
        "{{ tasks.call.output.either.sku }}",
        "{{ tasks.call.output.either[0] }}",
        "{{ tasks.call.output.missing | default(1) }}",
        "{{ tasks.call.output.missing is defined }}",
        "{{ tasks.call.output.missing if input.x else 2 }}",
        "{{ input.x or tasks.call.output.missing }}",
        "{{ tasks.call.output.headers.items() | list }}",
        "{{ tasks.call.output[input.key] }}",
        "{{ tasks.call.error.message }}",
        "{{ tasks.nobody.output.x }}",
        "{{ broken",
        "{% if %}",
    ],
)
def test_what_is_there_or_open_or_provided_for_is_not(text):
    assert found({"any": text}) == []


@pytest.mark.parametrize(
    ("key", "path", "message"),
    [
        ("count", "lines", "is a list; text or a number is"),
        ("count", "lines[0]", "is an object"),
        ("name", "headers", "is an object"),
        ("maybe", "headers", "is an object"),
        ("lines", "status", "is text or a number"),
        ("map", "lines", "is a list"),
    ],
)
def test_a_value_of_another_kind_is_told(key, path, message):
    ((code, told),) = found({key: f"{{{{ tasks.call.output.{path} }}}}"})

    assert code == "type_mismatch"
    assert message in told


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("count", "{{ tasks.call.output.status }}"),
        ("name", "{{ tasks.call.output.status }}"),
        ("name", "{{ tasks.call.output.headers }} as text"),
        ("name", "{{ tasks.call.output.lines | join }}"),
        ("lines", "{{ tasks.call.output.lines }}"),
        ("lines", "{{ tasks.call.output.either }}"),
        ("map", "{{ tasks.call.output.headers }}"),
        ("any", "{{ tasks.call.output.lines }}"),
        ("count", "{{ tasks.call.output.body }}"),
    ],
)
def test_a_value_that_may_fit_is_not(key, text):
    assert found({key: text}) == []


def test_values_within_lists_and_objects_are_compared_with_their_own_place():
    ((code, _),) = found({"lines": [{"sku": "{{ tasks.call.output.lines }}", "count": 1}]})

    assert code == "type_mismatch"


def test_the_workflows_output_and_the_module_before_are_read_too():
    chain = {
        "id": "chain",
        "after": "call",
        "modules": [
            {"id": "a", "use": "shop.call"},
            {"id": "b", "use": "shop.take", "with": {"any": "{{ previous.lins }}"}},
        ],
    }
    call = {"id": "call", "use": "shop.call"}
    document = {"tasks": [call, chain], "output": {"x": ["{{ tasks.call.output.xyz }}"]}}

    places = [warning.path for warning in warnings(document, KNOWN)]

    assert places == ["tasks[1].modules[1].with.any", "output.x[0]"]


def test_a_body_sees_the_tasks_around_it_and_its_own_first():
    inner = {"id": "call", "use": "flow.noop"}
    reads = {"id": "r", "use": "flow.noop", "with": {"v": "{{ tasks.call.output.nothing }}"}}
    outer = {"id": "call", "use": "shop.call"}
    body = {"id": "each", "use": "flow.map", "body": {"tasks": [reads]}}
    hiding = {"id": "each", "use": "flow.map", "body": {"tasks": [inner, reads]}}

    assert len(warnings({"tasks": [outer, body]}, KNOWN)) == 1
    assert warnings({"tasks": [outer, hiding]}, KNOWN) == []


@pytest.mark.parametrize("document", [None, [], {}, {"tasks": 3}, {"tasks": [{"id": 1}]}])
def test_of_what_is_no_definition_nothing_is_said(document):
    assert warnings(document, KNOWN) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_example_is_warned_of(path):
    assert warnings(load_text(path.read_text(), content_type="yaml"), catalog()) == []


def test_a_schema_that_refers_to_itself_comes_to_an_end():
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}

    assert Typed(schema, schema).at("x") is None
    assert isinstance(Typed({"type": "string"}, {}).at("x"), Missing)
