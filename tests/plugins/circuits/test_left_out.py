"""Without the plugin, an installation has none of its URLs, duties and files."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from executions.api import openapi
from django.contrib import admin
from django.urls import NoReverseMatch, resolve, reverse
from dlq.metrics import READINGS
from executions.definition.catalog import catalog
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import resolve as resolved
from executions.events import LASTING
from runners.explain.holds import HOLDS
from runners.gates import gates
from runners.ports import open_circuits
from runners.recovery.duties import EVERY_FIVE_SECONDS, EVERY_SECOND
print(resolve("/v1/CircuitBreaker").func is resolve("/v1/Nothing").func)
try:
    reverse("admin:valkyr_circuits_circuitbreaker_changelist")
except NoReverseMatch:
    print("no page")
document = openapi.document()
print("/v1/Run" in document["paths"], "/v1/CircuitBreaker" in document["paths"])
print([tag["name"] for tag in document["tags"] if tag["name"] == "CircuitBreaker"])
print("CIRCUIT_OPEN" in LASTING, "circuit" in HOLDS, "circuits" in READINGS)
print("circuits" in EVERY_SECOND, "unused_circuits" in EVERY_FIVE_SECONDS, open_circuits.provided)
print([gate for gate in gates._gates if "circuits" in gate.__module__])
call = {"id": "call", "use": "http.request", "with": {"url": "https://a.example"}}
given = {"schema": "valkyr/1", "name": "c", "tasks": [call | {"circuitWaitSeconds": 5}]}
task = resolved(normalise(given), catalog())["tasks"][0]
print(task["modules"][0]["circuitWaitSeconds"])
print([name for name in sys.modules if name.startswith("valkyr_plugins.circuits")])
"""


def test_left_out_it_adds_no_address_no_duty_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors,alerts,figures")

    assert done.stdout.splitlines() == [
        "True",
        "no page",
        "True False",
        "[]",
        "False False False",
        "False False False",
        "[]",
        "5",
        "[]",
    ], done.stderr
