"""The figures page of one workflow: charts as on the home page, steps, versions and costs."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import admin
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext

from dlq.public.dashboard import (
    KEPT_SECONDS,
    NOT_AVAILABLE,
    WORKFLOW_SECTIONS,
    Banner,
    WorkflowSection,
    cards,
    of_workflow,
)
from executions.public.access import Scope
from executions.public.admin import Cell, OperatingAdmin, PageSection, WorkflowAdmin, links, marks
from executions.public.database import database_now, soon
from executions.public.language import lazy
from executions.public.models import Workflow, WorkflowExecution
from valkyr_plugins.figures import breakdowns as of_steps
from valkyr_plugins.figures import breakdowns as of_versions
from valkyr_plugins.figures.admin import home as figures_cards
from valkyr_plugins.figures.admin.charts import percent
from valkyr_plugins.figures.admin.home import ranges, wanted_range
from valkyr_plugins.figures.breakdowns import StepTable, newest, step_table, versions
from valkyr_plugins.figures.ranges import Range
from valkyr_plugins.figures.reading import read

# A workflow's figures as plain rows, with limits on size and time.


Facts = dict[str, Any]


def gather(workflow: Workflow, wanted: Range) -> Facts:
    """Return the page's data, keyed by name; None for data that could not be read in time.

    The caller checks permissions.
    """
    now = database_now()
    since = wanted.window(now).start
    queries: dict[str, Callable[[], Any]] = {
        "figures": lambda: read(Scope(workflows=(workflow.pk,)), wanted, now),
        "steps": lambda: step_table(newest(workflow.pk, since)),
        "versions": lambda: versions(workflow.pk, since),
    }
    return {
        "at": now,
        "now": of_workflow(workflow),
        "anything": WorkflowExecution.objects.filter(workflow=workflow).exists(),
        "added": {
            one.title: soon(partial(one.gather, workflow, since)) for one in WORKFLOW_SECTIONS
        },
    } | {name: soon(query) for name, query in queries.items()}


# The panels of a workflow's figures: its steps, its versions, and panels of plugins.


SHOWN = 25
STEPS = (
    lazy("Step"),
    lazy("Share of time"),
    "p50",
    "p95",
    lazy("Attempts"),
    lazy("Failed"),
    lazy("Retries"),
)
VERSIONS = (lazy("Version"), lazy("Executions"), lazy("Failure rate"), "p50", "p95")
NONE_ENDED = lazy("No executions ended in this period.")


def panels(kept: Facts) -> list[PageSection]:
    """Return the sections of steps, versions and plugins; say which data is unavailable."""
    return [_steps(kept), _versions(kept), *_added(kept)]


def _steps(kept: Facts) -> PageSection:
    table: StepTable | None = kept["steps"]
    rows = [] if table is None else [_step_row(table, step) for step in table.steps[:SHOWN]]
    return PageSection(
        gettext("Slowest steps"),
        headers=STEPS,
        rows=rows,
        empty=NOT_AVAILABLE if table is None else NONE_ENDED,
        more=_basis() if rows else "",
    )


def _step_row(table: StepTable, step: of_steps.StepFigures) -> list[Cell]:
    share = 100 * table.share(step)
    bar = format_html(
        '<progress class="vk-bar" max="100" value="{}" aria-hidden="true"></progress>'
        '<span class="vk-nowrap">{} %</span>',
        f"{share:.1f}",
        f"{share:.0f}",
    )
    return [
        format_html("{}<br><span class='vk-subtle'>{}</span>", marks.path(step.place), step.module),
        bar,
        marks.took(step.lengths.percentile(0.5)),
        marks.took(step.lengths.percentile(0.95)),
        f"{step.attempts:,}",
        f"{step.failed:,} ({percent(step.failure_rate)})" if step.failed else "0",
        f"{step.retries:,}",
    ]


def _basis() -> str:
    return gettext(
        "Based on at most {executions:,} of the newest completed executions, and {attempts:,} of "
        "their attempts. All iterations of a step are counted together. Containers, such as loops, "
        "have no duration of their own."
    ).format(executions=of_steps.EXECUTIONS, attempts=of_steps.RUNS)


def _versions(kept: Facts) -> PageSection:
    found = kept["versions"]
    return PageSection(
        gettext("Versions"),
        headers=VERSIONS,
        rows=[
            [
                links.to("executions_workflowversion", one.version_id, f"v{one.number}"),
                f"{one.tally.ended:,}",
                percent(one.tally.failure_rate),
                marks.took(one.tally.durations.percentile(0.5)),
                marks.took(one.tally.durations.percentile(0.95)),
            ]
            for one in (found or [])[:SHOWN]
        ],
        empty=NOT_AVAILABLE if found is None else NONE_ENDED,
        more=gettext("Based on at most {number:,} of the newest completed executions.").format(
            number=of_versions.VERSION_EXECUTIONS
        )
        if found
        else "",
    )


def _added(kept: Facts) -> list[PageSection]:
    """Return the sections that plugins add; say which are unavailable."""
    return [_added_one(one, kept["added"].get(one.title)) for one in WORKFLOW_SECTIONS]


def _added_one(one: WorkflowSection, found: Any) -> PageSection:
    return PageSection(
        one.title,
        headers=one.headers,
        rows=[] if found is None else one.rows(found),
        empty=NOT_AVAILABLE if found is None else one.empty,
    )


def figures_page(model_admin: OperatingAdmin, request: HttpRequest, pk: str) -> HttpResponse:
    """Show the figures of one workflow that the user may see."""
    workflow: Workflow = model_admin.get_or_refuse(request, pk)
    wanted = wanted_range(request)
    kept = _facts(workflow, wanted)
    figures = kept["figures"]
    told: list[Banner] = []
    if figures:
        figures, told = figures_cards.selected(request, figures)
        told += figures_cards.banners(figures, anything=kept["anything"])
    only = {"workflow": str(workflow.pk)}
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("{name}: figures").format(name=workflow.name),
        "workflow": workflow,
        "opts": model_admin.opts,
        "banners": told,
        "cards": cards(kept["now"], kept["at"], figures_cards.cards(figures, **only), **only),
        **figures_cards.timeline(figures, **only),
        "panels": panels(kept),
        "ranges": ranges(wanted),
        "taken_at": kept["at"],
    }
    return TemplateResponse(request, "figures/workflow.html", context)


def _facts(workflow: Workflow, wanted: Range) -> Facts:
    """Return the workflow's figures, cached for all users who may see the workflow."""
    key = f"figures:{wanted.name}:{workflow.pk}"
    kept: Facts | None = cache.get(key)
    if kept is None:
        kept = gather(workflow, wanted)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


# Added here because the admin of workflows is in a lower app, which does not know dead letters.
WorkflowAdmin.show("figures", lazy("Figures"), "monitoring", figures_page)
