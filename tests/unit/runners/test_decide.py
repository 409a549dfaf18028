"""The failures that are retried, by class and by the step's policy."""

from types import SimpleNamespace
from typing import Any

import pytest

from executions.definition.graph.model import policy, written_out
from runners.failures.classification import Failure
from runners.pipeline.decide import Ending, decide
from runners.states import ErrorType


def ending(retry: Any, error_type: ErrorType) -> Ending:
    state: Any = SimpleNamespace(
        graph=SimpleNamespace(tasks=[SimpleNamespace(handles_error=False)], guarded=False)
    )
    step = SimpleNamespace(retry=policy(written_out(retry)), task=0)
    work: Any = SimpleNamespace(step=step, attempt=1, budget=1)
    unit: Any = SimpleNamespace(failure=Failure(error_type, "late", "StepTimeout"), wait=None)
    return decide(state, work, unit, random=0.5, checkpoint=False).ending


@pytest.mark.parametrize(
    ("retry", "error_type", "expected"),
    [
        ("standard", ErrorType.TIMEOUT, Ending.RETRY),
        ({"timeouts": False}, ErrorType.TIMEOUT, Ending.DEAD_LETTER),
        ({"timeouts": False}, ErrorType.TRANSIENT, Ending.RETRY),
        ("standard", ErrorType.PERMANENT, Ending.DEAD_LETTER),
    ],
)
def test_a_policy_decides_what_is_tried_again(
    retry: Any, error_type: ErrorType, expected: Ending
) -> None:
    assert ending(retry, error_type) is expected
