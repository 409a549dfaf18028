"""Start executions and wait for their results."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.following import until_end
from valkyr.cli.inputs import JsonParameter, workflow_id
from valkyr.cli.interrupts import ends_when_interrupted
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

MOST = 1_000
COLUMNS = [("Execution", "id"), ("State", "state"), ("Version", "version")]


def _start_options(command: Any) -> Any:
    for option in (
        click.option("--workspace", metavar="NAME", help="The workflow's workspace."),
        click.option("--version", type=click.IntRange(1), help="The version; default: the latest."),
        click.option("--priority", type=click.IntRange(0, 9), help="From 0 (last) to 9 (first)."),
        click.option(
            "--key",
            metavar="TEXT",
            help=("The Idempotency-Key: requests with the same key start one execution."),
        ),
        click.option("--input", "payload", type=JsonParameter(), help="The payload; default: {}."),
        click.argument("name"),
    ):
        command = option(command)
    return command


@click.command(cls=ApiCommand)
@_start_options
@click.option(
    "--batch",
    type=JsonParameter(),
    help="A JSON list of payloads; start an execution for each, or none at all.",
)
@click.pass_obj
def start(choices: Choices, /, name: str, batch: Any, **given: Any) -> None:
    """Start an execution, or several with --batch, and do not wait for the end.

    NAME is the workflow's id, slug or name.
    """
    output = CommandOutput(choices)
    if batch is None:
        with connected(choices) as api:
            output.record(_started(api, name, **given), COLUMNS)
        return
    if given["payload"] is not None:
        raise usage("--input and --batch exclude each other.")
    if not isinstance(batch, list) or not 1 <= len(batch) <= MOST:
        found = f"{len(batch):,} payloads" if isinstance(batch, list) else "no list"
        raise usage(f"--batch takes a JSON list of 1 to {MOST:,} payloads; this is {found}.")
    with connected(choices) as api:
        pk = workflow_id(api, name, given["workspace"])
        body = {"payloads": batch, **_more(given)}
        key = given["key"] or str(uuid4())
        answer = api.post(f"/v1/WorkflowExecution/{pk}/execute-batch", body, key=key)
    output.table([{"id": pk} for pk in answer["ids"]], [("EXECUTION", "id")])


@click.command(cls=ApiCommand)
@_start_options
@click.option("--wait/--no-wait", default=True, show_default=True)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Maximum seconds to wait.")
@click.pass_obj
def run(choices: Choices, /, name: str, wait: bool, timeout: float | None, **given: Any) -> int:
    """Start an execution, wait for its end and print its output.

    NAME is the workflow's id, slug or name. Exits with 1 if the execution does not succeed, and
    with 9 if it has not ended after --timeout. If the command is interrupted or times out, the
    execution continues.
    """
    output = CommandOutput(choices)
    with connected(choices) as api:
        started = _started(api, name, **given)
        if not wait:
            output.record(started, COLUMNS)
            return Exit.OK
        interrupted = CliError(
            f"Interrupted; execution {started['id']} continues.",
            Exit.INTERRUPTED,
            hint=f"`valkyr watch {started['id']}` follows it; `valkyr cancel` ends it.",
        )
        try:
            with ends_when_interrupted(output.error_text(interrupted)):
                output.note(f"Started execution {started['id']}.")
                with output.progress("Waiting for its end") as progress:
                    ended = until_end(api, started["id"], timeout, progress)
        except CliError as error:
            if error.code is Exit.UNREACHABLE:
                error.hint = f"{error.hint} Execution {started['id']} continues."
            raise
    return _told(output, ended)


def _started(api: "ApiClient", name: str, **given: Any) -> dict[str, Any]:
    pk = workflow_id(api, name, given["workspace"])
    payload = {} if given["payload"] is None else given["payload"]
    # With a key, the request can be repeated if the response is lost.
    key = given["key"] or str(uuid4())
    body = {"params": payload, **_more(given)}
    found: dict[str, Any] = api.post(f"/v1/WorkflowExecution/{pk}/execute", body, key=key)
    return found


def _more(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("priority", "version") if given[name] is not None}


def _told(output: CommandOutput, ended: dict[str, Any]) -> int:
    """Print the result and return the exit code. Without --json, raises CliError for a failure."""
    succeeded = ended["state"] == "SUCCESS"
    if output.json:
        output.value(ended)
    elif succeeded:
        output.note(f"Execution {ended['id']} succeeded.")
        output.value(ended["output"])
    else:
        message = f"Execution {ended['id']} ended as {ended['state']}"
        why = f": {ended['errorMessage']}" if ended["errorMessage"] else "."
        raise CliError(
            message + why,
            Exit.FAILED,
            hint=(
                f"`valkyr why {ended['id']}` gives the reason; `valkyr dead list --execution "
                f"{ended['id']}` lists the steps that you can requeue."
            ),
        )
    return Exit.OK if succeeded else Exit.FAILED
