"""The modules that a worker does not load: pages, endpoints, and libraries that only some steps
need.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

WORKER = """
import sys
import django
django.setup()
from valkyr_project.celery import app
app.loader.import_default_modules()
"""
ASKED_OF_A_WORKER = """
import json
loaded = sorted(sys.modules)
from django.urls import reverse
from runners.modules import registry
from runners.modules.declared import declared
rows = [bad.given for name in declared() for bad in registry.get(name).bad_inputs]
print(json.dumps({
    "loaded": loaded,
    "largest": max(len(repr(row)) for row in rows if not callable(row)),
    "address": reverse("admin:runners_run_changelist"),
}))
"""
# Of a worker at rest: the forms of the admin, the API's views, and what single modules need.
LEFT_OUT = ("executions.admin", "executions.api", "dlq.api", "openai", "sqlalchemy", "botocore")


def _run(program: str, **environment: str) -> str:
    given = {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "VALKYR_INSECURE_KEY": "1",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | given | environment, capture_output=True, text=True, check=True,
        timeout=100,
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def worker() -> dict[str, Any]:
    """Return a worker's loaded modules, its largest bad input's length, and an admin address."""
    found = _run(f"{WORKER}{ASKED_OF_A_WORKER}", VALKYR_PROCESS="worker-io")
    return dict(json.loads(found))


def test_a_worker_loads_no_pages(worker: dict[str, Any]) -> None:
    assert not set(worker["loaded"]) & set(LEFT_OUT)


@pytest.mark.parametrize("process", ["beat", "migrate"])
def test_a_process_without_pages_loads_none(process: str) -> None:
    found = _run(f"{WORKER}print(*sorted(sys.modules))", VALKYR_PROCESS=process)
    assert not set(found.split()) & set(LEFT_OUT)


def test_a_worker_that_asks_for_an_address_of_the_admin_gets_it(worker: dict[str, Any]) -> None:
    assert worker["address"] == "/admin/runners/run/"


def test_flower_loads_no_app() -> None:
    found = _run(
        "import sys\nfrom valkyr_project.celery import app\napp.loader.import_default_modules()\n"
        "app.connection_for_read()\nprint(*sorted(sys.modules))",
        VALKYR_PROCESS="flower",
    )
    assert not {"executions.models", "runners.models", "rest_framework"} & set(found.split())


def test_large_bad_inputs_are_made_only_when_somebody_asks(worker: dict[str, Any]) -> None:
    assert worker["largest"] < 1_100_000  # characters
