"""Without the plugin, an installation has none of its URLs, pages, duties and buttons."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from executions.admin.workflow import WorkflowAdmin
from executions.api import openapi
from django.urls import NoReverseMatch, resolve, reverse
from valkyr.beat import entries
some = "01900000-0000-7000-8000-000000000000"
nowhere = resolve("/v1/Nothing").func
for path in (f"Workflow/{some}/backtest", f"Workflow/{some}/backtests", f"Backtest/{some}"):
    print(resolve(f"/v1/{path}").func is nowhere)
try:
    reverse("admin:valkyr_backtest_backtest_changelist")
except NoReverseMatch:
    print("no page")
print({one.name for one in WorkflowAdmin.operations} & {"backtest"})
print([name for name in entries() if "backtests" in name])
print([path for path in openapi.document()["paths"] if "acktest" in path])
print([name for name in sys.modules if name.startswith("valkyr_plugins.backtest")])
"""


def test_left_out_it_adds_no_address_no_page_and_no_duty() -> None:
    done = run_without(PROGRAM, "connectors,mcp,version_migration")

    assert done.stdout.splitlines() == [
        "True", "True", "True", "no page", "set()", "[]", "[]", "[]",
    ], done.stderr  # fmt: skip
