"""Secrets in templates: whole expressions, references for rows, and values only for the module."""

from typing import Any

import pytest

from executions.definition.templates import compile_template, inspect_template
from executions.definition.templating.secrets import REFERENCES, reveal

VALUES = {("key", "value"): "K-value", ("shop", "password"): "P-value"}
TEMPLATE = {
    "plain": "{{ secrets.key }}",
    "text": "Bearer {{ secrets.key }} of {{ input.name }}",
    "list": [1, {"deep": "{{ secrets.shop.password }}"}],
    "same": "{{ secrets['key'] }}/{{ secrets.key.value }}",
    "none": "{{ input.name }}",
}


def scope(name: Any = "ann") -> dict[str, Any]:
    return {"input": {"name": name}, "secrets": REFERENCES}


def test_a_template_renders_references_and_knows_its_secrets() -> None:
    template = compile_template(TEMPLATE)

    assert template.render(scope()) == {
        "plain": "[secret:key]",
        "text": "Bearer [secret:key] of ann",
        "list": [1, {"deep": "[secret:shop.password]"}],
        "same": "[secret:key]/[secret:key]",
        "none": "ann",
    }
    assert template.secrets == {("key", "value"), ("shop", "password")}


def test_values_stand_in_the_places_of_their_references_alone() -> None:
    template = compile_template(TEMPLATE)
    rendered = template.render(scope("[secret:key]"))

    revealed, left = reveal(template.sealed, rendered, scope("[secret:key]"), VALUES)

    assert revealed == {
        "plain": "K-value",
        "text": "Bearer K-value of [secret:key]",
        "list": [1, {"deep": "P-value"}],
        "same": "K-value/K-value",
        "none": "[secret:key]",
    }
    assert left == []
    assert rendered["plain"] == "[secret:key]", "what is stored stays as it is"


def test_a_text_that_somebody_wrote_over_is_left_as_it_is() -> None:
    template = compile_template(TEMPLATE)
    rendered = template.render(scope()) | {"plain": "by hand", "list": "gone"}

    revealed, left = reveal(template.sealed, rendered, scope(), VALUES)

    assert (revealed["plain"], revealed["list"]) == ("by hand", "gone")
    assert left == [("plain",), ("list", 1, "deep")]


@pytest.mark.parametrize(
    "text",
    [
        "{{ secrets.key | upper }}",
        "{{ secrets.key ~ '' }}",
        "{{ secrets.key == input.guess }}",
        "{{ [secrets.key] }}",
        "{{ {'a': secrets.key} }}",
        "{{ input[secrets.key] }}",
        "{{ secrets[input.name] }}",
        "{{ secrets.key.strip() }}",
        "{{ range(secrets.key) }}",
        "{{ (secrets) }}",
        "{{ secrets | list }}",
        "{{ 'a' if secrets.key else 'b' }}",
    ],
)
def test_nothing_can_be_done_with_a_secret(text: str) -> None:
    assert [problem.code for problem in inspect_template(text)[1]] == ["secret_in_expression"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ secrets }}",
        "{{ secrets.Key }}",
        "{{ secrets.key[0] }}",
        "{{ secrets.key.a.b }}",
        "{{ secrets['a-b'] }}",
        "{{ secrets.key.value.strip }}",
    ],
)
def test_a_secret_that_can_have_no_name_is_refused(text: str) -> None:
    assert [problem.code for problem in inspect_template(text)[1]] == ["secret_name"]
