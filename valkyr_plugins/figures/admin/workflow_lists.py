"""The panels of a workflow's figures: its steps, its versions, what plugins add."""

from typing import Any

from django.utils.html import format_html

from dlq.public.dashboard import NOT_AVAILABLE, WORKFLOW_SECTIONS, WorkflowSection
from executions.public.admin import Cell, PageSection, links, marks
from valkyr_plugins.figures import steps as of_steps
from valkyr_plugins.figures import versions as of_versions
from valkyr_plugins.figures.admin.charts import percent
from valkyr_plugins.figures.admin.workflow_facts import Facts
from valkyr_plugins.figures.steps import StepTable

SHOWN = 25
STEPS = ("Step", "Share of time", "p50", "p95", "Attempts", "Failed", "Retries")
VERSIONS = ("Version", "Executions", "Failure rate", "p50", "p95")
NONE_ENDED = "No execution ended in this time."


def panels(kept: Facts) -> list[PageSection]:
    """Steps, versions, and what plugins add; one that could not be had says so."""
    return [_steps(kept), _versions(kept), *_added(kept)]


def _steps(kept: Facts) -> PageSection:
    table: StepTable | None = kept["steps"]
    rows = [] if table is None else [_step_row(table, step) for step in table.steps[:SHOWN]]
    return PageSection(
        "Slowest steps",
        headers=STEPS,
        rows=rows,
        empty=NOT_AVAILABLE if table is None else NONE_ENDED,
        more=_looked_at(table) if rows and table else "",
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


def _looked_at(table: StepTable) -> str:
    runs = f", and of them {of_steps.RUNS:,} attempts" if table.capped else ""
    return (
        f"From the newest {table.executions:,} executions that ended{runs}. All iterations of a "
        "step count together; what holds others, such as a loop, has no time of its own."
    )


def _versions(kept: Facts) -> PageSection:
    found = kept["versions"]
    return PageSection(
        "Versions",
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
        more=f"From the newest {of_versions.EXECUTIONS:,} executions that ended." if found else "",
    )


def _added(kept: Facts) -> list[PageSection]:
    """What plugins add; one that could not be had says so."""
    return [_added_one(one, kept["added"].get(one.title)) for one in WORKFLOW_SECTIONS]


def _added_one(one: WorkflowSection, found: Any) -> PageSection:
    return PageSection(
        one.title,
        headers=one.headers,
        rows=[] if found is None else one.rows(found),
        empty=NOT_AVAILABLE if found is None else one.empty,
    )
