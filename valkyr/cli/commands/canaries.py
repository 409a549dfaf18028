"""Commands for canary versions and for rollbacks of versions (the plugin `canary`)."""

from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import usage
from valkyr.cli.inputs import JsonParameter, workflow_id
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
    ("P50 S", lambda row: _short(row["p50Seconds"])),
    ("P95 S", lambda row: _short(row["p95Seconds"])),
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


def _short(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3g}"


def share(
    *, percent: float | None, stop: Any, no_stop: bool, promote_after: int | None
) -> dict[str, Any] | None:
    """Return the options of a canary as a request body, or None if no share is given.

    Raises a usage error for options that cannot be combined.
    """
    if percent is None:
        if stop is not None or no_stop or promote_after is not None:
            raise usage("--stop, --no-stop and --promote-after need --percent.")
        return None
    return {"percent": percent} | _conditions(stop, promote_after, no_stop=no_stop)


def _conditions(stop: Any, promote_after: int | None, *, no_stop: bool) -> dict[str, Any]:
    if stop is not None and no_stop:
        raise usage("--stop and --no-stop exclude each other.")
    rule = {"stop": stop} if stop is not None or no_stop else {}
    return rule if promote_after is None else rule | {"promoteAfterSeconds": promote_after}


@click.group()
def canary() -> None:
    """Compare, change, promote and stop canary versions.

    `valkyr publish --percent` publishes one.
    """


def _named(command: Any) -> Any:
    command = click.option("--workspace", metavar="NAME", help="The workflow's workspace.")(command)
    return click.argument("name")(command)


@canary.command(cls=ApiCommand)
@_named
@click.pass_obj
def status(choices: Choices, name: str, workspace: str | None) -> None:
    """Compare the newest canary of a workflow with its latest version.

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
        if figures["groups"]:
            output.table(figures["groups"], _groups(numbers))


def _groups(numbers: dict[str, int]) -> Any:
    return [
        ("DEAD LETTERS", "name"),
        (f"OF VERSION {numbers['canary']}", "canary"),
        (f"OF VERSION {numbers['latest']}", "latest"),
        ("NEW", lambda group: "yes" if group["isNew"] else "no"),
    ]


@canary.command(cls=ApiCommand)
@_named
@click.option(
    "--percent",
    type=click.FloatRange(0.01, 100),
    help="The share of new executions that use the canary.",
)
@click.option("--stop", type=JsonParameter(), help="The rule that stops the canary, as JSON.")
@click.option("--no-stop", is_flag=True, help="Never stop the canary automatically.")
@click.option(
    "--promote-after",
    type=click.IntRange(1),
    metavar="SECONDS",
    help="Promote the canary after this time from now.",
)
@click.option("--no-promotion", is_flag=True, help="Do not promote the canary automatically.")
@click.option("--reason", default="", help="For the audit trail.")
@click.pass_obj
def change(
    choices: Choices,
    name: str,
    workspace: str | None,
    percent: float | None,
    stop: Any,
    promote_after: int | None,
    reason: str,
    *,
    no_stop: bool,
    no_promotion: bool,
) -> None:
    """Change the share, the stop rule or the promotion of a running canary.

    NAME is the workflow's id, slug or name. A concurrency or idempotency key that selects the
    canary still selects it at a larger share.
    """
    if promote_after is not None and no_promotion:
        raise usage("--promote-after and --no-promotion exclude each other.")
    body = _conditions(stop, promote_after, no_stop=no_stop)
    body |= {} if percent is None else {"percent": percent}
    body |= {"promoteAfterSeconds": None} if no_promotion else {}
    if not body:
        raise usage("Give at least one option that changes the canary, such as --percent.")
    with connected(choices) as api:
        path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/canary"
        found = api.patch(path, body | {"reason": reason})
    CommandOutput(choices).record(found, COLUMNS)


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
    """Withdraw a version of a workflow: new executions and triggers use the previous version.

    NAME is the workflow's id, slug or name. The option --executions says what happens, in the
    background, to executions that started on the withdrawn version.
    """
    body = {"executions": executions.upper(), "reason": reason, "version": version}
    with connected(choices) as api:
        path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/rollbacks"
        found = api.post(path, body)
    CommandOutput(choices).record(found, ROLLBACK)
