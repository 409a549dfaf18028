"""The health check `processes`: it reports processes of a `make up` stack that repeatedly end."""

import json
import os
from pathlib import Path

from django.http import HttpRequest

from executions.health.parts import HealthFinding, Session, register
from valkyr_project.up.failing_processes import VARIABLE, supervised

NAME = "processes"
EXPECTED = "every process of the stack runs"


def processes(session: Session) -> HealthFinding:
    """Return the finding about the processes that the supervisor reported as failing."""
    path = Path(os.environ[VARIABLE])
    try:
        endings = json.loads(path.read_text())
    except (OSError, ValueError):
        return HealthFinding(False, f"{path} cannot be read", EXPECTED, "Start the stack again.")
    if not endings:
        return HealthFinding(True, EXPECTED, EXPECTED)
    found = ", ".join(f"{name} ({ending})" for name, ending in sorted(endings.items()))
    logs = ", ".join(str(path.parent / "logs" / f"{name}.log") for name in sorted(endings))
    verb = "keeps" if len(endings) == 1 else "keep"
    return HealthFinding(
        False, f"{found} {verb} ending right after the start", EXPECTED, f"Read {logs}."
    )


def register_part() -> None:
    """Add the check to the health checks, if a supervisor started this process."""
    if supervised():
        register(NAME, processes)


def context(request: HttpRequest) -> dict[str, bool]:
    """Return the context for the template of the notice about failing processes."""
    return {"supervised": supervised()}
