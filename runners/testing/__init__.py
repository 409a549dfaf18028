"""The testing kit: run one module, or a whole workflow on the real engine, in your own tests.

    from runners.testing import run_module

    def test_ten_per_cent_off():
        assert run_module("shop.discount", {"total": 2000}).outputs == {"total": 1800}

    def test_a_large_order_is_approved(valkyr):
        run = valkyr.start("orders.yaml", {"total": 5000}, answers={"charge": {"id": "ch_1"}})
        run.approve("review")
        run.assert_state("SUCCESS")

The fixture `valkyr` comes with the plugin `valkyr_project.pytest_plugin`; docs/how-to/testing.md is
the guide. No broker and no worker are needed: the rows show which steps are ready, and the kit
executes them as a worker would. Import this package after Django's setup, for example in a test.
"""

from runners.modules.base import Bad, Result, StepError, Wait
from runners.testing.answers import in_turn
from runners.testing.module_run import ModuleRun, check_bad_inputs, failing_module, run_module
from runners.testing.stored_contents import content_of, stored_content

__all__ = [
    "Bad",
    "ModuleRun",
    "Result",
    "StepError",
    "Wait",
    "check_bad_inputs",
    "content_of",
    "failing_module",
    "in_turn",
    "run_module",
    "stored_content",
]
