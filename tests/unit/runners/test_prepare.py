"""Inputs and keys: equal work has equal keys, and different work has different ones; overrides are
merged.
"""

from types import SimpleNamespace
from uuid import UUID

import pytest

from executions.definition.graph.places import Place
from executions.definition.templates import TemplateError
from executions.errors import PayloadError
from runners.segment.context import SegmentContext
from runners.segment.inputs import merged, prepare
from runners.segment.template_data import TemplateData
from tests.support.compiled import graph_of
from tests.support.workflows import effect


def prepared(value="{{ input.n }}", payload=None, execution=1, attempt=1, overrides=None):
    graph = graph_of({"tasks": [effect("t", value=value)]})
    version = SimpleNamespace(graph=graph, workspace_id=UUID(int=2))
    given = {"n": 1} if payload is None else payload
    place = Place("", graph)
    context = SegmentContext(UUID(int=execution), version, epoch=0, priority=5, input=given)
    return prepare(TemplateData(context, place), graph.steps[0], attempt, overrides)


@pytest.mark.parametrize(
    ("base", "changes", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": {"b": 1}}, {"a": "text"}, {"a": "text"}),
        ([1], {"a": 1}, {"a": 1}),
        ({}, {}, {}),
    ],
)
def test_overrides_are_merged_as_rfc_7396_says(base, changes, expected):
    assert merged(base, changes) == expected


def test_merging_leaves_both_sides_as_they_were():
    base, changes = {"a": {"b": 1}}, {"a": {"c": 2}}
    merged(base, changes)
    assert (base, changes) == ({"a": {"b": 1}}, {"a": {"c": 2}})


def test_each_attempt_of_a_step_has_the_same_key():
    assert prepared(attempt=1).key == prepared(attempt=7).key
    assert len(prepared().key) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"payload": {"n": 2}},
        {"execution": 2},
        {"value": "{{ input.n + 0 }}"},
        {"overrides": {"salt": "again"}},
        {"overrides": {"inputs": {"value": 5}}},
    ],
)
def test_other_work_has_another_key(other):
    assert prepared(**other).key != prepared().key


def test_what_is_stored_is_what_runs():
    made = prepared(overrides={"inputs": {"seconds": 1}})
    assert made.value == {"value": 1, "seconds": 1}
    assert made.text == '{"seconds":1,"value":1}'


def test_a_template_that_fails_names_the_name():
    with pytest.raises(TemplateError, match="missing"):
        prepared("{{ input.missing }}")


@pytest.mark.parametrize(
    ("value", "what"), [("\x00", "NUL"), ("\ud800", "surrogate"), (float("nan"), "JSON")]
)
def test_inputs_that_cannot_be_stored_are_named(value, what):
    with pytest.raises(PayloadError, match=what):
        prepared("{{ input.n }}", {"n": value})
