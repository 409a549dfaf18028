"""Every built-in module describes itself, and fails as its own table says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from executions.definition.catalog import catalog
from executions.definition.graph.validation import problems
from executions.definition.limits import limits
from executions.definition.templates import compile_template
from runners.modules import registry
from runners.modules.base import Bad
from runners.modules.declared import declared
from tests.support.bad_inputs import check_row, rows

# Their outputs are their inputs, or the result of what runs inside them.
OPEN = {"flow.noop", "flow.if", "flow.switch", "flow.fail", "flow.loop", "flow.map", "remote.step",
        "flow.set_variables", "data.set", "data.jmespath", "flow.pinned",
        "n8n.placeholder"}  # fmt: skip
NEED_CREDENTIAL = {"stripe.payment_intent", "stripe.refund", "stripe.customer"}
# Every input is valid: they wait, or pass it on.
TAKES_ALL: set[str] = {"flow.noop"}
# It is there to keep a workflow from being published.
BLOCKS = "n8n.placeholder"


def workflow(name: str) -> dict[str, Any]:
    """Return a workflow whose last task has the module's example as its `with`, after the tasks
    that it reads.
    """
    module = registry.get(name)
    reads = compile_template(dict(module.example)).references
    before = sorted({read[1] for read in reads if read[0] == "tasks"})
    tasks: list[dict[str, Any]] = [{"id": task, "use": "flow.noop"} for task in before]
    one: dict[str, Any] = {"id": "main", "use": name, "with": dict(module.example)}
    if name in NEED_CREDENTIAL:
        one["credential"] = "own"
    if name == "remote.step":
        one["queue"] = "remote"
    if ("previous",) in reads:
        one = {"modules": [{"id": "first", "use": "flow.noop"}, one]}
    if module.container:
        tools = [tool["name"] for tool in module.example.get("tools", [])]
        ids = tools or ["inner"]
        one["body"] = {"tasks": [{"id": inner, "use": "flow.noop"} for inner in ids]}
    variables = {read[1] for read in reads if read[0] == "vars"}
    if module.writes_variables:
        variables |= module.example["values"].keys()
    return {
        "schema": "valkyr/1",
        "name": "one",
        "variables": dict.fromkeys(sorted(variables)),
        "tasks": [*tasks, {**one, "id": "one", "after": before}],
    }


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_module_says_what_it_is(name: str) -> None:
    spec = catalog()[name]

    assert spec.title
    assert spec.description
    assert spec.category
    undescribed = [
        f"{kind}.{key}"
        for kind, schema in (("inputs", spec.inputs_schema), ("outputs", spec.outputs_schema or {}))
        for key, value in properties(schema).items()
        if not value.get("description")
    ]
    assert undescribed == []
    assert spec.outputs_schema or name in OPEN, f"{name} does not describe what it gives"
    if registry.get(name).has_circuit():
        assert spec.circuit_target, f"{name} has a circuit and does not say of what"


def properties(schema: Any) -> dict[str, Any]:
    """Return the described keys of a schema's top level, including keys behind a reference."""
    found = dict(schema)
    if "$ref" in found:
        found = dict(found["$defs"][found["$ref"].rpartition("/")[2]])
    return dict(found.get("properties", {}))


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_modules_example_can_be_published(name: str) -> None:
    assert catalog()[name].example or not catalog()[name].inputs_schema.get("required"), (
        f"{name} shows no example"
    )

    found = problems(workflow(name), catalog(), limits())

    assert [one.code for one in found] == (["placeholder"] if name == BLOCKS else [])


@pytest.mark.parametrize("name", sorted(declared().keys() - TAKES_ALL))
def test_a_module_says_what_goes_wrong(name: str) -> None:
    assert registry.get(name).bad_inputs, f"{name} has no row of bad inputs"


@pytest.fixture(autouse=True)
def files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give file steps an empty folder, so that no settings affect a row."""
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))


@pytest.mark.parametrize(("module_type", "bad"), rows())
def test_a_bad_input_is_told_as_the_table_says(
    module_type: str, bad: Bad, make_context: Callable[..., Any]
) -> None:
    check_row(module_type, bad, make_context(seconds=60))
