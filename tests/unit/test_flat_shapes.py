"""Shapes whose fields are created once: each answer has its own copies, and no field shares
another's values.
"""

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework import serializers

from executions.api.executions import Start, WorkflowExecutionShape
from executions.api.fields import Flat, Payload


class Small(Flat):
    """A name, and a value that not every user may see."""

    name = serializers.CharField(max_length=5)
    value = Payload()


def somebody(may: bool) -> Any:
    return SimpleNamespace(allows=lambda power: may)


def test_answers_at_the_same_time_do_not_know_each_other() -> None:
    row = SimpleNamespace(name="one", value=1)
    seen, hidden = (Small(row, context={"may": somebody(may)}) for may in (True, False))

    assert seen.fields["value"].root is seen
    assert hidden.fields["value"].root is hidden
    assert seen.data == {"name": "one", "value": 1}
    assert hidden.data["value"] != 1


def test_the_rules_of_a_field_hold_each_time() -> None:
    answers = [Small(data={"name": name, "value": 1}).is_valid() for name in ("one", "too long")]
    assert answers == [True, False]


def shapes(of: type[Flat] = Flat) -> list[type[Flat]]:
    """Return all flat shapes."""
    return [found for one in of.__subclasses__() for found in (one, *shapes(one))]


@pytest.mark.parametrize("shape", [Start, WorkflowExecutionShape])
def test_which_are_flat(shape: type[Flat]) -> None:
    assert shape in shapes()


@pytest.mark.parametrize("shape", shapes())
def test_no_field_of_a_flat_shape_holds_others(shape: type[Flat]) -> None:
    for name, field in shape().fields.items():
        assert not isinstance(field, serializers.BaseSerializer), name
        assert not hasattr(field, "child"), name
