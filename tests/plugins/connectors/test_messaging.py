"""Messages from steps are checked, and rejected if invalid, before anything is sent."""

from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import StepError
from runners.segment.step_context import Context
from tests.support.bad_inputs import check_row, rows


@pytest.mark.parametrize(("module_type", "bad"), rows(types=["event.publish", "queue.publish"]))
def test_a_bad_input_is_refused(module_type: str, bad: Any, step_context: Context) -> None:
    check_row(module_type, bad, step_context)


def test_a_step_without_an_execution_can_tell_no_event(step_context: Context) -> None:
    with pytest.raises(StepError, match="does not belong to an execution"):
        registry.get("event.publish").run({"event": "order.paid"}, step_context)
