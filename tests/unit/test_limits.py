"""The limits of definitions, from the environment."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.definition.graph.model import DEFAULTS
from executions.definition.limits import limits


def read(monkeypatch, **variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return limits.__wrapped__()


def test_an_environment_that_says_nothing_gives_the_defaults(monkeypatch):
    monkeypatch.delenv("VALKYR_REMOTE_QUEUES", raising=False)

    assert read(monkeypatch) == DEFAULTS


def test_each_limit_has_its_variable(monkeypatch):
    found = read(
        monkeypatch,
        LOOP_LIMIT_CONDITION="50",
        LOOP_LIMIT_DEFAULT="20",
        CHECKPOINT_ENABLED="0",
        CHECKPOINT_INTERVAL_NODES="7",
        CHECKPOINT_MAX_CHECKPOINTS="3",
    )

    assert (found.loop_limit_condition, found.loop_limit_default) == (50, 20)
    assert (found.checkpoint_enabled, found.checkpoint_every_steps) == (False, 7)
    assert found.checkpoint_keep == 3


def test_the_default_of_iterations_follows_a_lower_limit(monkeypatch):
    assert read(monkeypatch, LOOP_LIMIT_CONDITION="50").loop_limit_default == 50


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOOP_LIMIT_CONDITION", "0"),
        ("LOOP_LIMIT_CONDITION", "1000001"),
        ("LOOP_LIMIT_DEFAULT", "1001"),
        ("LOOP_LIMIT_DEFAULT", "ten"),
        ("CHECKPOINT_ENABLED", "maybe"),
        ("CHECKPOINT_INTERVAL_NODES", "0"),
        ("CHECKPOINT_MAX_CHECKPOINTS", "1.5"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_the_variable_s_name(monkeypatch, name, value):
    with pytest.raises(ImproperlyConfigured, match=name):
        read(monkeypatch, **{name: value})
