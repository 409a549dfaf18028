"""Without the plugin, an installation has none of its URLs, pages and duties."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from executions.admin.workflow import WorkflowAdmin
from executions.api import openapi
from executions.events import LASTING, canary_ended, execution_failed
from django.urls import NoReverseMatch, resolve, reverse
from valkyr.beat import entries
workflow = "/v1/Workflow/01900000-0000-7000-8000-000000000000"
nowhere = resolve("/v1/Nothing").func
for path in ("canary", "canary/promote", "canary/stop", "canaries", "rollbacks"):
    print(path, resolve(f"{workflow}/{path}").func is nowhere)
try:
    reverse("admin:valkyr_canary_canary_changelist")
except NoReverseMatch:
    print("no page")
print({one.name for one in WorkflowAdmin.operations} & {"canary", "roll_back"})
print("CANARY_STOPPED" in LASTING, canary_ended.receivers)
print([name for name in entries() if "canaries" in name or "rollbacks" in name])
print([path for path in openapi.document()["paths"] if "canar" in path])
print([name for name in sys.modules if name.startswith("valkyr_plugins.canary")])
"""


def test_left_out_it_adds_no_address_no_page_and_no_duty() -> None:
    done = run_without(PROGRAM, "connectors,alerts,timetravel")

    assert done.stdout.splitlines() == [
        "canary True",
        "canary/promote True",
        "canary/stop True",
        "canaries True",
        "rollbacks True",
        "no page",
        "set()",
        "False []",
        "[]",
        "[]",
        "[]",
    ], done.stderr
