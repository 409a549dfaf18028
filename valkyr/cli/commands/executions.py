"""Commands for executions: list, inspect and end them."""

from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import Exit, usage
from valkyr.cli.inputs import (
    LabelParameter,
    SinceParameter,
    label_query,
    workflow_id,
    workspace_id,
)
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

STATES = ("PENDING", "RUNNING", "PAUSED", "SUCCESS", "FAILED", "CANCELLED", "TIMEOUT")
AT_ONCE = 1_000
RECORD: Any = [
    ("Execution", "id"),
    ("Workflow", "workflowId"),
    ("Version", "version"),
    ("State", "state"),
    ("Started by", "triggerType"),
    ("Labels", lambda row: label_words(row["labels"])),
    ("Created", "createdAt"),
    ("Started", "startedAt"),
    ("Finished", "finishedAt"),
    ("Error", "errorMessage"),
    ("Payload", "triggerPayload"),
    ("Output", "output"),
]
STEPS = [
    ("STEP", "stepPath"),
    ("MODULE", "module"),
    ("ATTEMPT", "attempt"),
    ("STATE", "state"),
    ("STARTED", "startedAt"),
    ("MS", lambda run: run["durationMs"] and round(run["durationMs"])),
    ("ERROR", "error"),
]


@click.command("list", cls=ApiCommand)
@click.option(
    "--workflow", metavar="NAME", help="Only executions of this workflow: its id, slug or name."
)
@click.option("--state", type=click.Choice(STATES, case_sensitive=False))
@click.option(
    "--since",
    type=SinceParameter(),
    help=("Only executions created since: 30m, 2h, 7d, or a time."),
)
@click.option(
    "--label",
    "labels",
    type=LabelParameter(),
    multiple=True,
    help="Only executions with this label.",
)
@click.option(
    "--by-label",
    metavar="NAME",
    help="Count the newest 10,000 executions by the values of this label.",
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--workspace", metavar="NAME", help="Only executions of this workspace.")
@click.pass_obj
def list_executions(
    choices: Choices,
    workflow: str | None,
    state: str | None,
    since: str | None,
    labels: tuple[tuple[str, str], ...],
    by_label: str | None,
    limit: int,
    workspace: str | None,
) -> None:
    """List executions, newest first."""
    with connected(choices) as api:
        query = {
            "workflowId": workflow and workflow_id(api, workflow, workspace),
            "workspaceId": workspace and workspace_id(api, workspace),
            "state": state,
            "createdAfter": since,
        }
        if by_label is not None:
            counts_by_label(choices, api, "/v1/WorkflowExecution", by_label, labels, query)
            return
        query["label"] = label_query(labels)
        rows = list(api.rows("/v1/WorkflowExecution", limit, **query))
        more = api.more
        names = {} if choices.json or choices.quiet else _names(api, rows)
    columns: Any = [
        ("ID", "id"),
        ("WORKFLOW", lambda row: names.get(row["workflowId"], row["workflowId"])),
        ("V", "version"),
        ("STATE", "state"),
        ("TRIGGER", "triggerType"),
        ("CREATED", "createdAt"),
        ("FINISHED", "finishedAt"),
        ("LABELS", lambda row: label_words(row["labels"])),
    ]
    none = "No executions match. `valkyr start NAME` starts one."
    CommandOutput(choices).table(rows, columns, empty=none, more=more)


def label_words(labels: dict[str, str]) -> str:
    """Return labels in the form in which users search for them."""
    return " ".join(f"{name}:{value}" for name, value in labels.items())


def counts_by_label(
    choices: Choices,
    api: Any,
    path: str,
    name: str,
    labels: tuple[tuple[str, str], ...],
    query: dict[str, Any],
) -> None:
    """Print the number of rows for each value of a label. Raises CliError if `labels` are given."""
    if labels:
        raise usage("--by-label counts without --label; give one of them.")
    found = api.get(f"{path}/labels", name=name, **query)
    output = CommandOutput(choices)
    if choices.json:
        output.value(found)
        return
    columns: Any = [
        (name.upper(), "value"),
        ("COUNT", "count"),
        ("STATES", lambda row: label_words({k: str(v) for k, v in row["byState"].items()})),
    ]
    none = f"None of {found['rows']:,} rows has the label {name}."
    output.table(found["values"], columns, empty=none)
    if not found["complete"]:
        output.note(f"These are counts of the newest {found['rows']:,}; there are more.")


def _names(api: Any, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the slugs of up to 500 workflows, keyed by workflow ID."""
    if not rows:
        return {}
    return {row["id"]: row["slug"] for row in api.rows("/v1/Workflow", 500)}


@click.command(cls=ApiCommand)
@click.argument("execution", metavar="ID", type=click.UUID)
@click.pass_obj
def show(choices: Choices, execution: Any) -> None:
    """Show an execution: its payload, its output, and the attempts of its steps."""
    with connected(choices) as api:
        found = api.get(f"/v1/WorkflowExecution/{execution}")
        runs = list(api.rows("/v1/Run", executionId=execution, order="asc"))
    output = CommandOutput(choices)
    if choices.json:
        output.value({**found, "runs": runs})
        return
    output.record(found, RECORD)
    if not choices.quiet:
        click.echo()
        output.table([run for run in runs if not run["superseded"]], STEPS)  # type: ignore[arg-type]


@click.command(cls=ApiCommand)
@click.argument("execution", metavar="ID", type=click.UUID)
@click.option(
    "--step", metavar="PATH", help=("Only steps whose paths begin with this, such as charge.")
)
@click.pass_obj
def logs(choices: Choices, execution: Any, step: str | None) -> None:
    """Print the logs and errors of an execution's steps.

    Needs the permission view_payloads.
    """
    output = CommandOutput(choices)
    with connected(choices) as api:
        api.get(f"/v1/WorkflowExecution/{execution}")  # reports an unknown ID
        query = {"executionId": execution, "order": "asc", "place": step}
        told = False
        for row in api.rows("/v1/Run", **query):
            run = api.get(f"/v1/Run/{row['id']}")
            for entry in _entries(run):
                told = True
                if choices.json:
                    output.line({"step": run["stepPath"], "attempt": run["attempt"], **entry})
                else:
                    where = f"{run['stepPath']}#{run['attempt']}"
                    output.text(f"{where}  {entry['level'].upper():<8}{entry['message']}")
    if not told:
        output.note("Its steps wrote no log messages, and none failed.")


def _entries(run: dict[str, Any]) -> list[dict[str, Any]]:
    kept = run["logs"] or []
    if not isinstance(kept, list):  # an object with the missing permission
        kept = [{"ms": None, "level": "hidden", "message": str(kept.get("$hidden", kept))}]
    ended = [{"ms": run["durationMs"], "level": "error", "message": run["error"]}]
    return [*kept, *(ended if run["error"] else [])]


@click.command(cls=ApiCommand)
@click.argument("execution", metavar="ID", type=click.UUID)
@click.pass_obj
def why(choices: Choices, execution: Any) -> None:
    """Explain why an execution has not ended, step by step."""
    with connected(choices) as api:
        found = api.get(f"/v1/WorkflowExecution/{execution}/explain")
    output = CommandOutput(choices)
    if choices.json:
        output.value(found)
        return
    output.text(f"{found['state']}: {found['reason']['message']}")
    if found["steps"] and not choices.quiet:
        columns: Any = [
            ("STEP", "path"),
            ("STATE", "state"),
            ("REASON", lambda step: step["reason"]["message"]),
            ("UNTIL", lambda step: step["reason"]["until"]),
        ]
        output.table(found["steps"], columns)


@click.command(cls=ApiCommand)
@click.argument("executions", metavar="ID…", nargs=-1, required=True, type=click.UUID)
@click.option("--reason", default="", help="The reason, for the audit trail.")
@click.pass_obj
def cancel(choices: Choices, executions: tuple[Any, ...], reason: str) -> int:
    """Cancel executions. Exits with 1 if one of several could not be cancelled."""
    output, ids = CommandOutput(choices), [str(pk) for pk in dict.fromkeys(executions)]
    with connected(choices) as api:
        if len(ids) == 1:
            path = f"/v1/WorkflowExecution/{ids[0]}/cancel"
            output.record(api.post(path, {"reason": reason}), RECORD[:4])
            return Exit.OK
        done: dict[str, Any] = {"done": [], "refused": []}
        for at in range(0, len(ids), AT_ONCE):
            body = {"ids": ids[at : at + AT_ONCE], "reason": reason}
            answer = api.post("/v1/WorkflowExecution/cancel", body)
            done = {name: rows + answer[name] for name, rows in done.items()}
    return told_of_many(output, done)


def told_of_many(output: CommandOutput, done: dict[str, Any]) -> int:
    """Print the result for each item; return 1 if the API rejected an item, otherwise 0."""
    rows = [{"id": pk, "result": "done"} for pk in done["done"]]
    rows += [{"id": row["id"], "result": row["message"]} for row in done["refused"]]
    if output.json:
        output.value(done)
    elif output.quiet:
        output.table(rows[: len(done["done"])], [])
        for row in done["refused"]:
            click.echo(f"{row['id']}: {row['message']}", err=True)
    else:
        output.table(rows, [("ID", "id"), ("RESULT", "result")])
    return Exit.FAILED if done["refused"] else Exit.OK
