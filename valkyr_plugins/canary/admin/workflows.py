"""Canaries on the pages of workflows, and on the home page."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import ngettext

from dlq.public.dashboard import HomeProblem, HomeSection, add_section
from executions.public.access import Action
from executions.public.admin import Cell, OperatingAdmin, WorkflowAdmin, links, marks, scoped
from executions.public.language import lazy
from executions.public.models import Workflow
from valkyr_plugins.canary.admin.buttons import BEGIN, ROLL_BACK, canary_page
from valkyr_plugins.canary.lifecycle import ENGINE
from valkyr_plugins.canary.models import Canary, CanaryState
from valkyr_plugins.canary.watching import unanswered

SHOWN = 8  # maximum canaries on the home page


def _open_canary(admin: OperatingAdmin, request: HttpRequest, pk: str) -> HttpResponse:
    found = scoped(request, Canary.objects.filter(workflow_id=pk)).order_by("-id").first()
    if found is None:
        return HttpResponseRedirect(links.page("executions_workflow", pk))
    return HttpResponseRedirect(canary_page(found))


def _has_canary(row: Workflow) -> bool:
    return Canary.objects.filter(workflow_id=row.pk).exists()


WorkflowAdmin.offer(BEGIN, ROLL_BACK)
WorkflowAdmin.show(
    "open_canary", lazy("Canary"), "science", _open_canary, needs=Action.VIEW, fits=_has_canary
)


def _running(request: HttpRequest) -> list[Canary]:
    return _newest(scoped(request, Canary.objects.filter(state=CanaryState.RUNNING)))


def _stopped(request: HttpRequest) -> list[Canary]:
    """Return the newest of the `unanswered` canaries that their rule stopped."""
    return _newest(scoped(request, unanswered().filter(ended_by_name=ENGINE.name)))


def _newest(rows: QuerySet[Canary]) -> list[Canary]:
    found = rows.select_related("version__workflow")
    shown = found.defer("version__source", "version__definition", "version__workflow__definition")
    return list(shown.order_by("-created_at")[:SHOWN])


def _problem(number: int) -> HomeProblem:
    text = ngettext(
        "{number} canary version was stopped by its rule",
        "{number} canary versions were stopped by their rules",
        number,
    )
    address = links.listing("valkyr_canary_canary", state__exact=CanaryState.STOPPED)
    shown = f"{number}+" if number == SHOWN else f"{number}"
    return HomeProblem(text.format(number=shown), "science", address)


add_section(
    HomeSection(
        name="stopped canaries",
        title=lazy("Stopped canaries"),
        headers=(lazy("Version"), lazy("Reason"), lazy("Stopped")),
        gather=_stopped,
        rows=lambda found: [
            [_canary_link(row), row.reason, marks.ago(row.ended_at)] for row in found
        ],
        problem=_problem,
    )
)
add_section(
    HomeSection(
        name="canaries",
        title=lazy("Running canaries"),
        headers=(lazy("Version"), lazy("Share"), lazy("Published")),
        gather=_running,
        rows=lambda found: [
            [_canary_link(row), f"{row.percent:g} %", marks.ago(row.created_at)] for row in found
        ],
    )
)


def _canary_link(row: Canary) -> Cell:
    return links.to("valkyr_canary_canary", row.pk, str(row.version))
