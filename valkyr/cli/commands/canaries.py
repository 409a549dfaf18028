"""Canary versions and rollbacks of publications (the plugin `canary`)."""

from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import usage
from valkyr.cli.inputs import workflow_id
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

COLUMNS: Any = [
    ("State", "state"),
    ("Reason", "reason"),
    ("Version", "version"),
    ("Latest version", "latestVersion"),
    ("Percent", "percent"),
    ("Promoted at", "promoteAt"),
]
SIDES: Any = [
    ("VERSION", "version"),
    ("STARTED", "started"),
    ("ENDED", "ended"),
    ("FAILED", "failed"),
    ("FAILED %", "failureRate"),
    ("P50 S", "p50Seconds"),
    ("P95 S", "p95Seconds"),
    ("COST", lambda row: ", ".join(f"{c['perExecution']} {c['currency']}" for c in row["costs"])),
]
ROLLBACK: Any = [
    ("Withdrawn version", "version"),
    ("Version now", "goodVersion"),
    ("Executions", "executions"),
    ("Cancelled", "cancelled"),
    ("Forked", "forked"),
    ("Not settled", "failed"),
    ("Finished", "finishedAt"),
]


def share(
    *, percent: float | None, stop: Any, no_stop: bool, promote_after: int | None
) -> dict[str, Any] | None:
    """Return the body that publishes a canary; None without a share. Raises a usage error."""
    if percent is None:
        if stop is not None or no_stop or promote_after is not None:
            raise usage("--stop, --no-stop and --promote-after need --percent.")
        return None
    if stop is not None and no_stop:
        raise usage("--stop and --no-stop exclude each other.")
    body: dict[str, Any] = {"percent": percent}
    if stop is not None or no_stop:
        body["stop"] = stop
    if promote_after is not None:
        body["promoteAfterSeconds"] = promote_after
    return body


@click.group()
def canary() -> None:
    """Compare, promote and stop canary versions.

    `valkyr publish --percent` publishes one.
    """


def _named(command: Any) -> Any:
    command = click.option("--workspace", metavar="NAME", help="The workflow's workspace.")(command)
    return click.argument("name")(command)


@canary.command(cls=ApiCommand)
@_named
@click.pass_obj
def status(choices: Choices, name: str, workspace: str | None) -> None:
    """Show the newest canary of a workflow, beside its latest version.

    NAME is the workflow's id, slug or name.
    """
    with connected(choices) as api:
        found = api.get(f"/v1/Workflow/{workflow_id(api, name, workspace)}/canary")
    output = CommandOutput(choices)
    output.record(found, COLUMNS)
    if not choices.json and not choices.quiet:
        figures = found["figures"]
        numbers = {"canary": found["version"], "latest": found["latestVersion"]}
        output.table([figures[side] | {"version": numbers[side]} for side in numbers], SIDES)
        for group in figures["groups"]:
            new = " (new)" if group["isNew"] else ""
            counts = f"{group['canary']} and {group['latest']}"
            output.text(f"{group['name']}{new}: {counts} dead letters")


def _moves(verb: str, help_text: str) -> None:
    @canary.command(verb, cls=ApiCommand, help=f"{help_text}\n\nNAME is its id, slug or name.")
    @_named
    @click.option("--reason", default="", help="For the audit trail.")
    @click.pass_obj
    def move(choices: Choices, name: str, workspace: str | None, reason: str) -> None:
        with connected(choices) as api:
            path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/canary/{verb}"
            found = api.post(path, {"reason": reason})
        CommandOutput(choices).record(found, COLUMNS)


_moves("promote", "Make the canary of a workflow its latest version.")
_moves("stop", "Let all new executions of a workflow use its latest version.")


@click.command(cls=ApiCommand)
@_named
@click.option("--version", type=click.IntRange(1), help="Default: the canary's, else the latest.")
@click.option(
    "--executions",
    type=click.Choice(["leave", "cancel", "fork"]),
    default="leave",
    show_default=True,
    help="What to do with executions that started on the version.",
)
@click.option("--reason", default="", help="For the audit trail.")
@click.pass_obj
def rollback(
    choices: Choices,
    name: str,
    workspace: str | None,
    version: int | None,
    executions: str,
    reason: str,
) -> None:
    """Withdraw a version of a workflow: starts and triggers take the one before it.

    NAME is the workflow's id, slug or name. Executions are settled in the background.
    """
    body = {"executions": executions.upper(), "reason": reason, "version": version}
    with connected(choices) as api:
        path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/rollbacks"
        found = api.post(path, body)
    CommandOutput(choices).record(found, ROLLBACK)
