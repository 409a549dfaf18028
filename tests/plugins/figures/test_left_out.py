"""Without the plugin, an installation has none of its URLs, tasks and files."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from executions.api import openapi
from django.urls import NoReverseMatch, resolve, reverse
from dlq.public.retention import HORIZONS
from valkyr.beat import entries
print(resolve("/v1/Figures").func is resolve("/v1/Nothing").func)
try:
    reverse("admin:executions_workflow_figures", args=["1"])
except NoReverseMatch:
    print("no page")
document = openapi.document()
print("/v1/Workflow" in document["paths"], "/v1/Figures" in document["paths"])
print([tag["name"] for tag in document["tags"] if tag["name"] == "Figures"])
print("valkyr: figures" in entries(), HORIZONS)
print([name for name in sys.modules if name.startswith("valkyr_plugins.figures")])
"""


def test_left_out_it_adds_no_address_no_task_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == [
        "True",
        "no page",
        "True False",
        "[]",
        "False []",
        "[]",
    ], done.stderr
