"""`{{ todo("…") }}` marks unfinished text, and prevents a draft from being published."""

import pytest

from executions.definition.graph.validation import problems
from executions.definition.templates import inspect_template
from executions.definition.templating.syntax import todo
from tests.unit.graph.catalog import CATALOG, definition, noop


@pytest.mark.parametrize(
    "what", ["$json.x", 'a "quote"', "back\\slash", "two\nlines", "}} {{", "é"]
)
def test_whatever_is_to_be_written_is_told_at_its_place(what: str) -> None:
    _, found = inspect_template({"a": ["x", f"before {todo(what)} after"]})

    assert [(one.pointer, one.code) for one in found] == [(("a", 1), "unfinished")]
    assert found[0].message.endswith(f"replace this placeholder: {what}")


@pytest.mark.parametrize(
    "text", ["{{ todo('a') | upper }}", "{{ 1 if todo('a') else 2 }}", "{{ [todo('a')] }}"]
)
def test_it_may_stand_within_an_expression(text: str) -> None:
    assert [one.code for one in inspect_template(text)[1]] == ["unfinished"]


def test_one_that_does_not_say_what_says_so() -> None:
    assert "without a description" in inspect_template("{{ todo() }}")[1][0].message


def test_a_definition_that_holds_one_cannot_be_published() -> None:
    draft = definition(
        [noop("a", **{"with": {"value": todo("the price")}})], output=todo("the answer")
    )

    assert [(one.path, one.code) for one in problems(draft, CATALOG)] == [
        ("tasks[0].with.value", "unfinished"),
        ("output", "unfinished"),
    ]


def test_a_key_called_todo_is_a_key() -> None:
    assert inspect_template("{{ input.todo }}")[1] == []
