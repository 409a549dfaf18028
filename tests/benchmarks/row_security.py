"""The cost of row-level security for a request: `python -m tests.benchmarks.row_security`.

The same requests run in one process, in turns with and without it. Time and CPU time are measured
for the process that answers and for its session's server process, each as the quotient of medians.
"""

import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROWS = 40  # repetitions of each, in each of two workspaces
TURNS, EACH = 24, 10
ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TICK = 1 / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Start a server, fill it, measure, and print the figures."""
    from valkyr_project.embedded.postgres import Postgres

    home = Path(tempfile.mkdtemp(prefix="rls-"))
    home.chmod(0o755)
    server = Postgres(home, durable=False)
    try:
        os.environ |= {
            "DATABASE_URL": server.start(),
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
            "VALKYR_SECRET_KEY": "bench-" + "0123456789abcdef" * 4,
            "VALKYR_KEY": "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=",
            "VALKYR_ROW_LEVEL_SECURITY": "1",
            "VALKYR_REQUESTS_PER_MINUTE": "0",
            "VALKYR_LOG_LEVEL": "CRITICAL",
            "VALKYR_HOME": str(home),
            "VALKYR_STATIC_ROOT": str(home / "static"),
        }
        _measure()
    finally:
        server.stop()


def _measure() -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    requests = _requests()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    print(f"{'request':44} {'off ms':>8} {'on ms':>8} {'time':>7} {'CPU':>7}")
    for name, ask in requests.items():
        with _security(False):
            plain = ID.findall(ask().content)
        with _security(True):
            assert ID.findall(ask().content) == plain, f"{name}: other rows"
        took: dict[bool, list[float]] = {False: [], True: []}
        used: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(TURNS):
            for on in (turn % 2 == 0, turn % 2 == 1):
                with _security(on):
                    ask()
                    ask()
                    began = _processor()
                    for _ in range(EACH):
                        start = time.perf_counter()
                        ask()
                        took[on].append(time.perf_counter() - start)
                    used[on].append((_processor() - began) / EACH)
        off, on_ = (1000 * statistics.median(took[one]) for one in (False, True))
        cpu = statistics.mean(used[True]) / statistics.mean(used[False])
        print(f"{name:44} {off:8.2f} {on_:8.2f} {on_ / off:7.3f} {cpu:7.3f}", flush=True)


@contextmanager
def _security(on: bool) -> Iterator[None]:
    """Change the setting, with connections that use it, as after a start with it."""
    from django.db import connection
    from django.db.backends.signals import connection_created

    from executions import configuration
    from executions.database import row_scope

    os.environ["VALKYR_ROW_LEVEL_SECURITY"] = str(int(on))
    configuration.forget()
    connection.close()
    connection_created.disconnect(dispatch_uid="executions.database.row_scope")
    row_scope.connect()
    yield


def _requests() -> dict[str, Callable[[], Any]]:
    """Return the requests by name, as an administrator of one of two workspaces."""
    from django.test import Client
    from rest_framework.test import APIClient

    from dlq.models import DeadLetterEntry
    from executions.models import WorkflowExecution
    from tests.support.admin_rows import one_of_each
    from tests.support.signed_in import bearer
    from tests.support.two_workspaces import planted

    api, page = APIClient(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
    (here, boss, _), (there, _, _) = planted("here"), planted("there")
    for place in (here, there):
        one_of_each(place.workflows.first(), ROWS)
    api.credentials(HTTP_AUTHORIZATION=bearer(boss))
    page.force_login(boss)
    flow = here.workflows.first().pk
    one = WorkflowExecution.objects.filter(workspace=here, state="FAILED").latest("pk").pk
    letter = DeadLetterEntry.objects.filter(workspace=here).latest("pk").pk
    execution = "executions/workflowexecution/"
    addresses = {
        "API": ["Me", "Workflow", f"Workflow/{flow}", "WorkflowExecution",
                f"WorkflowExecution/{one}", f"WorkflowExecution/{one}/timeline", "Run",
                "DeadLetterQueue", f"DeadLetterQueue/{letter}", "FailureGroup", "Activity"],
        "admin": ["", execution, f"{execution}{one}/change/",
                    "executions/workflow/", "runners/run/", "dlq/deadletterentry/",
                  f"dlq/deadletterentry/{letter}/change/"],
    }  # fmt: skip
    found: dict[str, Callable[[], Any]] = {}
    for path in addresses["API"]:
        found[f"GET /v1/{path}".replace(str(one), "…").replace(str(letter), "…")] = (
            lambda path=path: _right(api.get(f"/v1/{path}"))
        )
    for path in addresses["admin"]:
        found[f"GET /admin/{path}".replace(str(one), "…").replace(str(letter), "…")] = (
            lambda path=path: _right(page.get(f"/admin/{path}"))
        )
    return found


def _right(answer: Any) -> Any:
    assert answer.status_code == 200, (answer.status_code, answer.content[:300])
    return answer


def _processor() -> float:
    """Return the seconds of CPU time of this process and of its session's server process."""
    from django.db import connection

    connection.ensure_connection()
    stat = Path(f"/proc/{connection.connection.info.backend_pid}/stat").read_text()
    fields = stat.rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) * TICK


if __name__ == "__main__":
    sys.exit(main())
