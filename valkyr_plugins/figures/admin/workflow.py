"""The figures of one workflow: as on the first page, with its steps, versions and costs."""

from typing import Any

from django.contrib import admin
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from dlq.public.dashboard import KEPT_SECONDS, cards
from executions.public.admin import OperatingAdmin, WorkflowAdmin
from executions.public.models import Workflow
from valkyr_plugins.figures.admin import cards as figures_cards
from valkyr_plugins.figures.admin.charts import charts
from valkyr_plugins.figures.admin.home import ranges, wanted_range
from valkyr_plugins.figures.admin.workflow_facts import Facts, gather
from valkyr_plugins.figures.admin.workflow_lists import panels
from valkyr_plugins.figures.ranges import Range


def figures_page(model_admin: OperatingAdmin, request: HttpRequest, pk: str) -> HttpResponse:
    """The page of one workflow that the person may see."""
    workflow: Workflow = model_admin.get_or_refuse(request, pk)
    wanted = wanted_range(request)
    kept = _facts(workflow, wanted)
    figures = kept["figures"]
    only = {"workflow": str(workflow.pk)}
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": f"{workflow.name}: figures",
        "workflow": workflow,
        "opts": model_admin.opts,
        "cards": cards(kept["now"], timezone.now(), figures_cards.cards(figures, **only), **only),
        "measures": figures_cards.measures(figures),
        "charts": charts(figures) if figures else [],
        "panels": panels(kept),
        "ranges": ranges(wanted),
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
