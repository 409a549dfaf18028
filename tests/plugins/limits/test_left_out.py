"""Without the plugin, an installation has none of its URLs, duties, readings and files."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from django.apps import apps
from executions.api import openapi
from django.urls import resolve
from dlq.metrics import READINGS
from dlq.retention import pruning
from executions.quotas.limits import ceilings_query
from runners.explain.holds import HOLDS
from runners.gates import gates
from runners.ports import record_costs
from runners.recovery.duties import EVERY_SECOND
PATHS = ("Quota", "Budget", "CostEntry", "Spend")
nothing = resolve("/v1/Nothing").func
print([path for path in PATHS if resolve(f"/v1/{path}").func is not nothing])
document = openapi.document()
print([path for path in document["paths"] if "Quota" in path or "Budget" in path])
print("/v1/Workspace/{id}/usage" in document["paths"])
print([tag["name"] for tag in document["tags"] if tag["name"] in ("Quota", "Budget", "CostEntry")])
print("budgets" in READINGS, "budgets" in EVERY_SECOND)
print("costs" in pruning.kinds(), "quota" in HOLDS)
print(ceilings_query.provided, record_costs.provided, gates.Stage.REFUSE in gates._stages.values())
print([model.__name__ for model in apps.get_models() if model.__name__ in ("Quota", "Budget")])
print([name for name in sys.modules if name.startswith("valkyr_plugins.limits")])
"""


def test_left_out_it_adds_no_address_no_duty_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == [
        "[]",
        "[]",
        "True",
        "[]",
        "False False",
        "False False",
        "False False False",
        "[]",
        "[]",
    ], done.stderr
