"""What the filter forms of triage offer to choose from: what the person may see, bounded."""

from typing import Any

from django.http import HttpRequest

from dlq.models import FailureGroup
from executions.admin.scope import scoped
from executions.models import Workflow

OFFERED = 100


def workflows(request: HttpRequest) -> list[tuple[str, str]]:
    """Any, or one of the first hundred by name."""
    rows = scoped(request, Workflow.objects.filter(archived_at=None)).order_by("name")
    return [
        ("", "any"),
        *((str(pk), name) for pk, name in rows.values_list("pk", "name")[:OFFERED]),
    ]


def suggestions(request: HttpRequest) -> dict[str, list[str]]:
    """Modules and exceptions of the groups seen last, to be typed or picked."""
    rows: Any = scoped(request, FailureGroup.objects.all()).order_by("-last_seen")
    found = list(rows.values_list("module", "exception")[: OFFERED * 5])
    return {
        "module": sorted({module for module, _ in found})[:OFFERED],
        "exception": sorted({exception for _, exception in found if exception})[:OFFERED],
    }
