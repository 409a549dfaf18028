"""The figures of one workflow: as on the first page, with its steps, versions and costs."""

from typing import Any

from django.contrib import admin
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from dlq.admin.dashboard import measures
from dlq.admin.dashboard.cards import workflow_cards
from dlq.admin.dashboard.charts import charts
from dlq.admin.dashboard.gathering import KEPT_SECONDS
from dlq.admin.workflow_figures_facts import Facts, gather
from dlq.admin.workflow_figures_lists import panels
from executions.admin.operating import OperatingAdmin
from executions.admin.workflow import WorkflowAdmin
from executions.figures.ranges import RANGES, Range, range_named
from executions.models import Workflow


def figures_page(model_admin: OperatingAdmin, request: HttpRequest, pk: str) -> HttpResponse:
    """The page of one workflow that the person may see."""
    workflow: Workflow = model_admin.get_or_refuse(request, pk)
    wanted = range_named(request.GET.get("range"))
    kept = _facts(workflow, wanted)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": f"{workflow.name}: figures",
        "workflow": workflow,
        "opts": model_admin.opts,
        "cards": workflow_cards(kept, workflow.pk, timezone.now()),
        "measures": measures(kept["figures"]),
        "charts": charts(kept["figures"]) if kept["figures"] else [],
        "panels": panels(kept),
        "ranges": [(one.name, one.title, one is wanted) for one in RANGES.values()],
        "taken_at": kept["at"],
    }
    return TemplateResponse(request, "figures/workflow.html", context)


def _facts(workflow: Workflow, wanted: Range) -> Facts:
    """Who may see a workflow sees all its figures, so they are kept for everybody."""
    key = f"figures:{wanted.name}:{workflow.pk}"
    kept: Facts | None = cache.get(key)
    if kept is None:
        kept = gather(workflow, wanted)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


# Their admin is of an app below, which knows nothing of dead letters.
WorkflowAdmin.show("figures", "Figures", "monitoring", figures_page)
