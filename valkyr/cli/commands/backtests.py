"""Backtests: compare a draft with the records of past executions (the plugin `backtest`)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from valkyr.cli.commands.bundles import PlanCommand
from valkyr.cli.connecting import connected
from valkyr.cli.errors import UNKNOWN_ADDRESS, CliError, Exit, usage
from valkyr.cli.following import patiently
from valkyr.cli.inputs import JsonParameter, SinceParameter, workflow_id
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput
from valkyr.cli.plans import CHANGES

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

PATH = "/v1/Backtest"
LOOK_SECONDS = 0.5
ENDED = frozenset({"DONE", "FAILED", "CANCELLED"})
DIFFERENT = ("WOULD_CALL", "DIFFERENT_PATH", "DIFFERENT_OUTPUT")
VERDICTS = ("SAME", *DIFFERENT, "NOT_COMPARABLE")
STATES = ("SUCCESS", "FAILED", "TIMEOUT", "CANCELLED")


def _different(row: dict[str, Any]) -> int:
    return sum(row["counts"][verdict] for verdict in DIFFERENT)


def _count(verdict: str) -> tuple[str, Any]:
    return verdict.replace("_", " ").capitalize(), lambda row: row["counts"][verdict]


RECORD: Any = [
    ("Backtest", "id"),
    ("State", "state"),
    ("Error", "error"),
    ("Version", lambda row: row["version"] or "draft"),
    ("Compared", lambda row: f"{row['done']} of {'?' if row['total'] is None else row['total']}"),
    *map(_count, VERDICTS),
]
TABLE: Any = [
    ("ID", "id"),
    ("STATE", "state"),
    ("VERSION", lambda row: row["version"] or "draft"),
    ("COMPARED", "done"),
    ("DIFFERENT", _different),
    ("CREATED", "createdAt"),
    ("BY", "createdBy"),
]
RESULTS: Any = [
    ("EXECUTION", "executionId"),
    ("VERDICT", "verdict"),
    ("SAME STEPS", "sameSteps"),
    ("STEPS", lambda row: ", ".join(one["stepPath"] or "(end)" for one in row["steps"])),
]


@contextmanager
def _plugin(choices: Choices) -> Iterator["ApiClient"]:
    """Yield the API client. If the server lacks the plugin `backtest`, the CliError gets a hint."""
    with connected(choices) as api:
        try:
            yield api
        except CliError as error:
            if error.problem.get("code") == UNKNOWN_ADDRESS:
                error.hint = "The server has no plugin `backtest`: see docs/how-to/plugins.md."
            raise


@click.group()
def backtest() -> None:
    """Compare a draft with the records of past executions.

    No step with an effect runs, and no execution is started.
    """


@backtest.command("start", cls=PlanCommand)
@click.argument("name")
@click.option("--workspace", metavar="NAME", help="The workflow's workspace.")
@click.option("--last", type=click.IntRange(1, 10_000), default=100, show_default=True,
              help="At most this many executions, the newest first.")  # fmt: skip
@click.option("--state", "states", multiple=True, type=click.Choice(STATES, case_sensitive=False),
              help="Only executions that ended in this state; repeatable.")  # fmt: skip
@click.option(
    "--since", type=SinceParameter(), help="Only executions created at this time or later."
)
@click.option("--until", type=SinceParameter(), help="Only executions created before this time.")
@click.option("--ran-on", type=click.IntRange(1), help="Only executions of this version.")
@click.option("--version", type=click.IntRange(1), help="Compare this version, not the draft.")
@click.option("--file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Compare this definition (YAML or JSON), not the stored draft.")  # fmt: skip
@click.option("--no-wait", is_flag=True, help="Print the backtest; do not wait for its end.")
@click.pass_obj
def start_backtest(
    choices: Choices, /, name: str, workspace: str | None, no_wait: bool, **given: Any
) -> int:
    """Compare the draft of a workflow with its past executions, and print the differences.

    NAME is the workflow's id, slug or name. Exits with 0 if there are no differences, with 2 if
    there are, and with 1 if the backtest failed or was cancelled.
    """
    body, output = _body(given), CommandOutput(choices)
    with _plugin(choices) as api:
        path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/backtest"
        made = api.post(path, body)
        if no_wait:
            output.record(made, RECORD)
            return Exit.OK
        return _waited(api, output, made["id"])


def _body(given: dict[str, Any]) -> dict[str, Any]:
    if given["file"] is not None and given["version"] is not None:
        raise usage("--file and --version exclude each other.")
    body: dict[str, Any] = {
        "last": given["last"],
        "states": [state.upper() for state in given["states"]],
        "from": given["since"],
        "until": given["until"],
        "ranOn": given["ran_on"],
        "version": given["version"],
    }
    if given["file"] is not None:
        body["definition"] = JsonParameter().convert(f"@{given['file']}", None, None)
    return {name: value for name, value in body.items() if value is not None}


def _waited(api: "ApiClient", output: CommandOutput, pk: Any) -> int:
    """Wait until a backtest ends, print its result, and return the exit code."""
    output.note(f"Backtest {pk} continues if this command is interrupted.")
    with output.progress("Comparing") as progress:
        while (row := patiently(lambda: api.get(f"{PATH}/{pk}")))["state"] not in ENDED:
            if progress is not None:
                total = "?" if row["total"] is None else row["total"]
                progress.update(f"{row['done']} of {total} executions compared")
            time.sleep(LOOK_SECONDS)
    return _shown(output, row)


def _shown(output: CommandOutput, row: dict[str, Any]) -> int:
    output.record(row, RECORD)
    if not output.json and not output.quiet:
        for group in row["groups"]:
            output.text(group["text"])
        if row["groupsLeftOut"]:
            output.text(f"{row['groupsLeftOut']} more differences are in no group.")
    if row["state"] in ("FAILED", "CANCELLED"):
        return Exit.FAILED
    return CHANGES if _different(row) else Exit.OK


@backtest.command("show", cls=PlanCommand)
@click.argument("pk", metavar="ID", type=click.UUID)
@click.option("--wait", is_flag=True, help="Wait until it ends.")
@click.pass_obj
def show_backtest(choices: Choices, pk: Any, wait: bool) -> int:
    """Show a backtest and its groups; the exit codes are those of `start`."""
    output = CommandOutput(choices)
    with _plugin(choices) as api:
        return _waited(api, output, pk) if wait else _shown(output, api.get(f"{PATH}/{pk}"))


@backtest.command("list", cls=ApiCommand)
@click.argument("name")
@click.option("--workspace", metavar="NAME", help="The workflow's workspace.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.pass_obj
def list_backtests(choices: Choices, name: str, workspace: str | None, limit: int) -> None:
    """List the backtests of a workflow, newest first."""
    with _plugin(choices) as api:
        path = f"/v1/Workflow/{workflow_id(api, name, workspace)}/backtests"
        rows = list(api.rows(path, limit))
        CommandOutput(choices).table(rows, TABLE, empty="No backtests.", more=api.more)


@backtest.command("results", cls=ApiCommand)
@click.argument("pk", metavar="ID", type=click.UUID)
@click.option("--verdict", type=click.Choice(VERDICTS, case_sensitive=False))
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.pass_obj
def list_results(choices: Choices, pk: Any, verdict: str | None, limit: int) -> None:
    """List the executions of a backtest with their verdicts; --json adds each step's values."""
    with _plugin(choices) as api:
        rows = list(api.rows(f"{PATH}/{pk}/results", limit, verdict=verdict and verdict.upper()))
        CommandOutput(choices).table(rows, RESULTS, empty="No results match.", more=api.more)


@backtest.command("cancel", cls=ApiCommand)
@click.argument("pk", metavar="ID", type=click.UUID)
@click.option("--reason", default="", help="For the audit trail.")
@click.pass_obj
def cancel_backtest(choices: Choices, pk: Any, reason: str) -> None:
    """Cancel a backtest; the results so far are kept."""
    with _plugin(choices) as api:
        row = api.post(f"{PATH}/{pk}/cancel", {"reason": reason})
        CommandOutput(choices).record(row, RECORD)
