"""The engine works without the plugin, and with the plugin but without pyarrow in memory."""

from tests.support.left_out import run_without

PROGRAM = """
import sys
import django
django.setup()
from django.urls import resolve
import valkyr_project.celery
from dlq.public.retention import BEFORE_DELETION, UNSTORED
from executions.ports import archived_execution
from valkyr.beat import entries
execution = "/v1/WorkflowExecution/01900000-0000-7000-8000-000000000000"
nowhere = resolve("/v1/Nothing").func
for path in (f"{execution}/archive", f"{execution}/restore", "/v1/ArchiveFile"):
    print(resolve(path).func is nowhere)
print("valkyr: archive" in entries(), archived_execution.provided, UNSTORED, BEFORE_DELETION)
print([name for name in sys.modules if name.startswith("valkyr_plugins.archive")])
print("pyarrow" in sys.modules, "duckdb" in sys.modules)
"""


def test_left_out_it_adds_no_address_no_task_and_no_import() -> None:
    done = run_without(PROGRAM, "connectors")

    assert done.stdout.splitlines() == ["True"] * 3 + ["False False [] []", "[]", "False False"], (
        done.stderr
    )


def test_installed_but_off_it_loads_no_library() -> None:
    done = run_without(PROGRAM, "connectors,archive")

    assert done.stdout.splitlines()[:3] == ["False"] * 3, done.stderr
    assert done.stdout.splitlines()[-1] == "False False"
