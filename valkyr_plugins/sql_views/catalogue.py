"""The views and their columns: what BI tools can rely on.

A view has no payload, no secret, no error text and no name of an account: columns that a workspace
can seal are left out, whether it seals them or not. A column is only added, never renamed or
removed, without a note in the changelog.

`{executions}` and the like in the SQL stand for the tables of the models in `TABLES`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.apps import apps

from executions.public.migrations import model

# The model of each table that the SQL names.
TABLES = {
    "workspaces": "executions.Workspace",
    "workflows": "executions.Workflow",
    "versions": "executions.WorkflowVersion",
    "executions": "executions.WorkflowExecution",
    "triggers": "executions.Trigger",
    "runs": "runners.Run",
    "letters": "dlq.DeadLetterEntry",
    "groups": "dlq.FailureGroup",
}
REDRIVES = "valkyr_redrive.Redrive"


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column: its name, its SQL over the view's tables, and its description."""

    name: str
    sql: str
    about: str


@dataclass(frozen=True, slots=True)
class SqlView:
    """A view. `scope` is the workspace of a row, as SQL; `tables` are keys of `TABLES`."""

    name: str
    about: str
    tables: str
    scope: str
    columns: tuple[ViewColumn, ...]


def _columns(*given: tuple[str, str, str]) -> tuple[ViewColumn, ...]:
    return tuple(ViewColumn(*one) for one in given)


def _own(alias: str, *given: tuple[str, str]) -> tuple[ViewColumn, ...]:
    """Return columns that have the names of the table's own."""
    return tuple(ViewColumn(name, f"{alias}.{name}", about) for name, about in given)


def _placed(alias: str) -> tuple[ViewColumn, ...]:
    """Return the columns that say where a row belongs; `o` is the workspace, `w` the workflow."""
    return _columns(
        ("workspace_id", f"{alias}.workspace_id", "ID of the workspace"),
        ("workspace", "o.slug", "Slug of the workspace"),
        ("workflow_id", f"{alias}.workflow_id", "ID of the workflow"),
        ("workflow", "w.slug", "Slug of the workflow"),
    )


# PostgreSQL leaves a LEFT JOIN out if a query reads none of its columns.
def _with_workspace(alias: str) -> str:
    return f"LEFT JOIN {{workspaces}} o ON o.id = {alias}.workspace_id"


def _with_place(alias: str) -> str:
    workflow = f"LEFT JOIN {{workflows}} w ON w.id = {alias}.workflow_id"
    return f"{_with_workspace(alias)} {workflow}"


WORKSPACES = SqlView(
    "workspaces",
    "The workspaces that the role can read.",
    "{workspaces} o",
    "o.id",
    _own(
        "o",
        ("id", "ID of the workspace"),
        ("slug", "Slug, as in the API"),
        ("name", "Name"),
        ("created_at", "When it was created"),
        ("archived_at", "When it was archived; null if it is in use"),
    ),
)
WORKFLOWS = SqlView(
    "workflows",
    "Workflows, also archived ones.",
    f"{{workflows}} w {_with_workspace('w')} "
    "LEFT JOIN {versions} v ON v.id = w.latest_version_id "
    "LEFT JOIN {versions} c ON c.id = w.canary_version_id",
    "w.workspace_id",
    _columns(
        ("id", "w.id", "ID of the workflow"),
        ("workspace_id", "w.workspace_id", "ID of the workspace"),
        ("workspace", "o.slug", "Slug of the workspace"),
        ("slug", "w.slug", "Slug, unique among the workflows in use"),
        ("name", "w.name", "Name"),
        ("enabled", "w.enabled", "Whether triggers start it"),
        ("latest_version", "v.number", "Number of the latest version; null before the first"),
        ("canary_version", "c.number", "Number of the canary version; null without one"),
        ("canary_percent", "w.canary_percent", "Share of the starts of the canary, in per cent"),
        ("created_at", "w.created_at", "When it was created"),
        ("updated_at", "w.updated_at", "When its draft was last changed"),
        ("archived_at", "w.archived_at", "When it was archived; null if it is in use"),
    ),
)
VERSIONS = SqlView(
    "versions",
    "Versions of workflows.",
    f"{{versions}} v JOIN {{workflows}} w ON w.id = v.workflow_id {_with_workspace('w')}",
    "w.workspace_id",
    _columns(
        ("id", "v.id", "ID of the version"),
        ("workspace_id", "w.workspace_id", "ID of the workspace"),
        ("workspace", "o.slug", "Slug of the workspace"),
        ("workflow_id", "v.workflow_id", "ID of the workflow"),
        ("workflow", "w.slug", "Slug of the workflow"),
        ("number", "v.number", "Number, from 1"),
        ("kind", "v.kind", "published, or test for a test run of a draft"),
        ("checksum", "v.checksum", "SHA-256 of the definition"),
        ("created_at", "v.created_at", "When it was published"),
        ("withdrawn_at", "v.withdrawn_at", "When it was rolled back, or its canary stopped"),
    ),
)
EXECUTIONS = SqlView(
    "executions",
    "Executions, one row each. Give a range of created_at.",
    f"{{executions}} e {_with_place('e')} LEFT JOIN {{versions}} v ON v.id = e.version_id",
    "e.workspace_id",
    (
        *_own("e", ("id", "ID of the execution")),
        *_placed("e"),
        *_columns(
            ("version_id", "e.version_id", "ID of the version"),
            ("version", "v.number", "Number of the version"),
            ("canary", "e.canary", "Whether it took the canary version's share of the starts"),
            ("state", "e.state", "PENDING, RUNNING, PAUSED, SUCCESS, FAILED, CANCELLED, TIMEOUT"),
            ("trigger_type", "e.trigger_type", "MANUAL, CRON, EVENT, WEBHOOK, QUEUE"),
            ("trigger_id", "e.trigger_id", "ID of the trigger; null for manual starts"),
            ("parent_id", "e.parent_id", "Execution that started it as a sub-workflow"),
            ("failure_of_id", "e.failure_of_id", "Failed execution that it handles"),
            ("origin_id", "e.origin_id", "Execution that it replays or was forked from"),
            ("priority", "e.priority", "From 0 (last) to 9 (first)"),
            ("compensation", "e.compensation", "Progress of the undo steps; empty without any"),
            ("trace_id", "e.trace_id", "ID of the OpenTelemetry trace"),
            ("created_at", "e.created_at", "When it was accepted"),
            ("started_at", "e.started_at", "When its first step could start"),
            ("finished_at", "e.finished_at", "When it ended; null while it is live"),
            ("deadline_at", "e.deadline_at", "When it times out"),
            (
                "duration_seconds",
                "EXTRACT(EPOCH FROM e.finished_at - e.started_at)::double precision",
                "From the start to the end, in seconds; null while it is live",
            ),
        ),
    ),
)
STEPS = SqlView(
    "steps",
    "Attempts of steps, one row each. Give a range of execution_created_at, or execution_id.",
    f"{{runs}} r JOIN {{executions}} e ON e.id = r.execution_id {_with_place('e')}",
    "e.workspace_id",
    (
        *_own("r", ("id", "ID of the attempt"), ("execution_id", "ID of the execution")),
        *_placed("e"),
        *_columns(
            ("execution_created_at", "e.created_at", "When the execution was accepted"),
            ("step", "r.step_path", "Path of the step, with iterations"),
            ("module", "r.module", "Type of the step, such as http.request"),
            ("attempt", "r.attempt", "Number of the attempt, from 1"),
            (
                "state",
                "r.state",
                "PENDING, LEASED, RUNNING, WAITING, SUCCESS, FAILED, DLQ, CANCELLED, SKIPPED",
            ),
            ("outcome", "r.outcome", "Connection that the step chose"),
            ("error_type", "r.error_type", "Class of the error, empty without one"),
            ("superseded", "r.superseded", "Whether a roll-back replaced it"),
            ("queue", "r.queue", "Queue of the workers"),
            ("waits_for", "r.waits_for", "What it waits or waited for, such as approval"),
            ("recoveries", "r.recoveries", "How often it was taken from a lost worker"),
            ("queued_at", "r.queued_at", "When it could first run"),
            ("started_at", "r.started_at", "When a worker started it"),
            ("finished_at", "r.finished_at", "When it ended; null while it is live"),
            ("duration_ms", "r.duration_ms", "Duration of the attempt, in milliseconds"),
            ("cost_tokens", "r.cost_tokens", "Tokens of language models"),
            ("cost_amount", "r.cost_amount", "Costs, in the installation's currency"),
        ),
    ),
)
DEAD_LETTERS = SqlView(
    "dead_letters",
    "Permanently failed steps. Give resolution and a range of quarantined_at.",
    f"{{letters}} d {_with_place('d')}",
    "d.workspace_id",
    (
        *_own("d", ("id", "ID of the dead letter")),
        *_placed("d"),
        *_columns(
            ("execution_id", "d.execution_id", "ID of the execution"),
            ("step_id", "d.run_id", "ID of the failed attempt, as in steps"),
            ("group_id", "d.group_id", "Group of equal failures"),
            ("version", "d.version_number", "Number of the version that ran"),
            ("step", "d.step_path", "Path of the step, with iterations"),
            ("module", "d.module", "Type of the step"),
            (
                "failure_type",
                "d.failure_type",
                "MAX_RETRIES, PERMANENT_ERROR, CIRCUIT_BREAKER, MANUAL",
            ),
            ("error_type", "d.error_type", "Class of the error"),
            ("exception", "d.exception", "Class of the exception"),
            ("http_status", "d.http_status", "HTTP status that the step received"),
            ("target", "d.target", "System that the step called, such as a host"),
            ("attempts", "d.attempts", "Number of attempts"),
            ("redrives", "d.redrives", "How often the step was requeued before"),
            ("resolution", "d.resolution", "PENDING (open), REQUEUED, FIXED, SKIPPED, DISCARDED"),
            ("requeued_step_id", "d.requeued_run_id", "Attempt that a requeue started"),
            ("requeued_execution_id", "d.requeued_execution_id", "Execution of a requeue"),
            ("quarantined_at", "d.quarantined_at", "When it failed permanently"),
            ("resolved_at", "d.resolved_at", "When it was resolved; null while it is open"),
            ("expires_at", "d.expires_at", "When retention may delete it"),
            ("pinned", "d.pinned", "Whether retention keeps it"),
        ),
    ),
)
GROUPS = SqlView(
    "dead_letter_groups",
    "Groups of equal failures. Merged groups are left out.",
    f"{{groups}} g {_with_place('g')}",
    "g.merged_into_id IS NULL AND g.workspace_id",
    (
        *_own("g", ("id", "ID of the group")),
        *_placed("g"),
        *_columns(
            ("step", "g.place", "Path of the step, without iterations"),
            ("module", "g.module", "Type of the step"),
            ("exception", "g.exception", "Class of the exception"),
            ("status", "g.status", "Status, such as NEW, RESOLVED, REGRESSED"),
            ("status_at", "g.status_at", "When the status last changed"),
            ("muted", "g.muted", "Whether it raises no alerts"),
            ("resolved_in", "g.resolved_in", "Version that fixes the failure"),
            ("total", "g.total", "Dead letters ever, some seconds late"),
            ("open", "g.open", "Open dead letters, some seconds late"),
            ("first_seen", "g.first_seen", "First failure"),
            ("last_seen", "g.last_seen", "Latest failure"),
        ),
    ),
)
SCHEDULES = SqlView(
    "schedules",
    "Schedules of workflows, also retired ones.",
    f"{{triggers}} t JOIN {{workflows}} w ON w.id = t.workflow_id {_with_workspace('w')}",
    "t.type = 'CRON' AND w.workspace_id",
    _columns(
        ("id", "t.id", "ID of the trigger, as in executions.trigger_id"),
        ("workspace_id", "w.workspace_id", "ID of the workspace"),
        ("workspace", "o.slug", "Slug of the workspace"),
        ("workflow_id", "t.workflow_id", "ID of the workflow"),
        ("workflow", "w.slug", "Slug of the workflow"),
        ("schedule", "t.settings ->> 'schedule'", "Cron expression or interval"),
        ("timezone", "t.settings ->> 'timezone'", "Time zone"),
        ("enabled", "t.enabled", "Whether it starts executions"),
        ("paused_until", "t.paused_until", "End of its pause; null if it was never paused"),
        ("next_at", "t.next_at", "Next fire time"),
        ("created_at", "t.created_at", "When a version first had it"),
        ("retired_at", "t.retired_at", "When the latest version removed it"),
    ),
)
OF_REDRIVES = SqlView(
    "redrives",
    "Redrives of dead letters (plugin `redrive`).",
    f"{{redrives}} x {_with_workspace('x')}",
    "x.workspace_id",
    (
        *_own("x", ("id", "ID of the redrive"), ("workspace_id", "ID of the workspace")),
        *_columns(("workspace", "o.slug", "Slug of the workspace")),
        *_own(
            "x",
            ("group_id", "Group of equal failures, if it was started there"),
            ("scope", "STEP, FROM or EXECUTION"),
            ("state", "DRAFT, RUNNING, PAUSED, STOPPED, DONE, ABORTED"),
            ("total", "Dead letters"),
            ("sent", "Dead letters sent"),
            ("succeeded", "Succeeded"),
            ("failed_again", "Failed again"),
            ("skipped", "Skipped, because they had changed"),
            ("rate", "Maximum per second; null without a limit"),
            ("created_at", "When it was created"),
            ("started_at", "When it was started"),
            ("finished_at", "When it ended"),
        ),
    ),
)
VIEWS = (
    *(WORKSPACES, WORKFLOWS, VERSIONS, EXECUTIONS, STEPS),
    *(DEAD_LETTERS, GROUPS, SCHEDULES, OF_REDRIVES),
)


def views() -> list[SqlView]:
    """Return the views of this installation: without the plugin `redrive`, none of redrives."""
    there = apps.is_installed("valkyr_plugins.redrive")
    return [view for view in VIEWS if there or view is not OF_REDRIVES]


def tables() -> dict[str, str]:
    """Return the name of each table that the SQL names."""
    found = {name: model(apps, label)._meta.db_table for name, label in TABLES.items()}
    if apps.is_installed("valkyr_plugins.redrive"):
        found["redrives"] = apps.get_model(REDRIVES)._meta.db_table
    return {name: str(table) for name, table in found.items()}


def described(chosen: Iterable[SqlView]) -> list[dict[str, object]]:
    """Return the views and columns as JSON."""
    return [
        {
            "view": view.name,
            "about": view.about,
            "columns": [{"name": one.name, "about": one.about} for one in view.columns],
        }
        for view in chosen
    ]
