"""The points at which the engine takes a checkpoint automatically."""

from typing import Any

import pytest

from executions.definition.graph.model import CheckpointPolicy, Passed, due


def policy(**changed: Any) -> CheckpointPolicy:
    known = {"enabled": True, "every_steps": 5, "on_loop": True, "on_gate": True, "keep": 10}
    return CheckpointPolicy(**(known | changed))


@pytest.mark.parametrize(
    ("rule", "passed", "expected"),
    [
        (None, Passed(100, gate=True, turn=True), False),
        (policy(enabled=False), Passed(100, gate=True, turn=True), False),
        (policy(), Passed(), False),
        (policy(), Passed(4), False),
        (policy(), Passed(5), True),
        (policy(every_steps=1), Passed(1), True),
        (policy(), Passed(1, gate=True), True),
        (policy(on_gate=False), Passed(1, gate=True), False),
        (policy(), Passed(1, turn=True), True),
        (policy(on_loop=False), Passed(1, turn=True), False),
    ],
)
def test_a_checkpoint_is_due_when_the_policy_says_so(
    rule: CheckpointPolicy | None, passed: Passed, expected: bool
) -> None:
    assert due(rule, passed) is expected
