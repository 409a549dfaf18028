"""Redrives: requeue many dead letters at a rate, as one durable object (the plugin `redrive`)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import UNKNOWN_ADDRESS, CliError, Exit, usage
from valkyr.cli.following import patiently
from valkyr.cli.inputs import JsonParameter, LabelParameter
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

PATH = "/v1/Redrive"
LOOK_SECONDS = 1.0
# States in which a redrive does not continue without a user's action.
RESTING = frozenset({"DRAFT", "PAUSED", "STOPPED", "DONE", "ABORTED"})
COUNTS = ("queued", "running", "succeeded", "failedAgain", "skipped", "aborted")
LABELS = {"failedAgain": "failed again"}


def _count(name: str) -> tuple[str, Any]:
    return LABELS.get(name, name).upper(), lambda row: row["progress"][name]


TABLE: Any = [
    ("ID", "id"),
    ("STATE", "state"),
    ("SCOPE", "scope"),
    ("TOTAL", "total"),
    *(_count(name) for name in COUNTS[:4]),
    ("CREATED", "createdAt"),
    ("BY", "createdBy"),
]
RECORD: Any = [
    ("Redrive", "id"),
    ("State", "state"),
    ("Stopped", "stopReason"),
    ("Scope", "scope"),
    ("Reason", "reason"),
    ("By", "createdBy"),
    ("Total", "total"),
    *((label.capitalize(), count) for label, count in map(_count, COUNTS)),
    ("Seconds left", lambda row: row["progress"]["secondsLeft"]),
]
PREVIEW: Any = [
    ("Would run", "runs"),
    ("Seconds", "seconds"),
    ("Skipped", "skipped"),
    ("Effects", "effects"),
    ("Rejected", "rejected"),
]


@contextmanager
def _plugin(choices: Choices) -> Iterator["ApiClient"]:
    """Yield the API client. If the server lacks the plugin `redrive`, the CliError gets a hint."""
    with connected(choices) as api:
        try:
            yield api
        except CliError as error:
            if error.problem.get("code") == UNKNOWN_ADDRESS:
                error.hint = "The server has no plugin `redrive`: see docs/how-to/plugins.md."
            raise


@click.group()
def redrive() -> None:
    """Requeue many dead letters at a rate you set."""


@redrive.command("start", cls=ApiCommand)
@click.argument("letters", metavar="[ID…]", nargs=-1, type=click.UUID)
@click.option(
    "--group", metavar="ID", type=click.UUID, help=("All dead letters of this failure group.")
)
@click.option(
    "--filter",
    "chosen",
    type=JsonParameter(),
    help=("Filters of GET /v1/DeadLetterQueue, as JSON."),
)
@click.option(
    "--label",
    "labels",
    type=LabelParameter(),
    multiple=True,
    help="All open dead letters with this label; with --filter, only those that match both.",
)
@click.option("--scope", type=click.Choice(["STEP", "FROM", "EXECUTION"]), default="STEP")
@click.option("--from-step", metavar="PATH", help="With FROM: the first step to run.")
@click.option("--to-version", metavar="V", help="The version: pinned, latest or a number.")
@click.option("--overrides", type=JsonParameter(), help="A merge patch of the inputs.")
@click.option("--expression", help="An expression that returns each entry's merge patch.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="Maximum entries per second.")
@click.option("--max-in-flight", type=click.IntRange(1), help="Maximum entries in progress.")
@click.option(
    "--canary", type=click.IntRange(0), help="Send this many first and wait for their results."
)
@click.option(
    "--stop-above",
    type=click.FloatRange(0, 100),
    help=("Stop if more than this percentage fails again."),
)
@click.option("--reason", help="The reason; stored with each entry.")
@click.option("--dry-run", is_flag=True, help="Preview only; requeue nothing.")
@click.option("--wait", is_flag=True, help="Wait until it ends or stops.")
@click.pass_obj
def start_redrive(
    choices: Choices,
    /,
    letters: tuple[Any, ...],
    dry_run: bool,
    wait: bool,
    **given: Any,
) -> int:
    """Requeue dead letters: by ID, --group, --filter or --label.

    The redrive contains the dead letters that are open when it is created. With --wait, the exit
    code is 1 unless the redrive completes and no step fails again.
    """
    body, output = _body(letters, given), CommandOutput(choices)
    with _plugin(choices) as api:
        made = api.post(PATH, body)
        place = f"{PATH}/{made['id']}"
        if dry_run:
            try:
                output.record(api.post(f"{place}/preview", {}), PREVIEW, key="runs")
            finally:
                api.post(f"{place}/abort", {"reason": "preview"})
            return Exit.OK
        try:
            begun = api.post(f"{place}/start", {"reason": given["reason"] or ""})
        except CliError:
            api.post(f"{place}/abort", {"reason": "not started"})  # so that no draft remains
            raise
        return _waited(api, output, made["id"]) if wait else _shown(output, begun)


def _body(letters: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    ways: dict[str, Any] = {
        "ids": [str(pk) for pk in letters] or None,
        "groupId": given["group"] and str(given["group"]),
        "filter": _filter(given),
    }
    named = {name: way for name, way in ways.items() if way is not None}
    if len(named) != 1:
        raise usage(
            "Choose dead letters by IDs, by --group, or by --filter and --label: exactly one of "
            "them."
        )
    version = given["to_version"]
    more = {
        "scope": given["scope"],
        "fromStep": given["from_step"],
        "version": int(version) if version and version.isdecimal() else version,
        "overrides": given["overrides"],
        "expression": given["expression"],
        "ratePerSecond": given["rate"],
        "maxInFlight": given["max_in_flight"],
        "canary": given["canary"],
        "stopAbove": given["stop_above"],
        "reason": given["reason"],
    }
    return named | {name: value for name, value in more.items() if value is not None}


def _filter(given: dict[str, Any]) -> Any:
    """Return the filter from --filter and --label; None if neither option is used."""
    if not given["labels"]:
        return given["chosen"]
    chosen = given["chosen"] or {}
    if not isinstance(chosen, dict):
        raise usage("--filter expects a JSON object.")
    return {**chosen, "label": dict(given["labels"])}


@redrive.command("list", cls=ApiCommand)
@click.option("--state", type=click.Choice([*sorted(RESTING), "RUNNING"], case_sensitive=False))
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.pass_obj
def list_redrives(choices: Choices, state: str | None, limit: int) -> None:
    """List redrives, newest first."""
    with _plugin(choices) as api:
        rows = list(api.rows(PATH, limit, state=state))
        CommandOutput(choices).table(rows, TABLE, empty="No redrives match.", more=api.more)


@redrive.command("show", cls=ApiCommand)
@click.argument("pk", metavar="ID", type=click.UUID)
@click.option("--wait", is_flag=True, help="Wait until it ends or stops.")
@click.pass_obj
def show_redrive(choices: Choices, pk: Any, wait: bool) -> int:
    """Show a redrive and its progress."""
    output = CommandOutput(choices)
    with _plugin(choices) as api:
        return _waited(api, output, pk) if wait else _shown(output, api.get(f"{PATH}/{pk}"))


def _shown(output: CommandOutput, row: dict[str, Any]) -> int:
    output.record(row, RECORD)
    return Exit.OK


def _waited(api: "ApiClient", output: CommandOutput, pk: Any) -> int:
    """Wait until a redrive ends, stops or pauses; return 0 if it is done without new failures."""
    output.note(f"Redrive {pk} continues if this command is interrupted.")
    with output.progress("Redriving") as progress:
        while (row := patiently(lambda: api.get(f"{PATH}/{pk}")))["state"] not in RESTING:
            if progress is not None:
                counts = row["progress"]
                done = counts["succeeded"] + counts["failedAgain"] + counts["skipped"]
                progress.update(f"{done} of {row['total']} done")
            time.sleep(LOOK_SECONDS)
    output.record(row, RECORD)
    well = row["state"] == "DONE" and not row["progress"]["failedAgain"]
    return Exit.OK if well else Exit.FAILED


def _move(verb: str, text: str) -> None:
    @redrive.command(verb, cls=ApiCommand, help=text)
    @click.argument("pk", metavar="ID", type=click.UUID)
    @click.option("--reason", default="", help="Kept in the audit trail.")
    @click.pass_obj
    def move(choices: Choices, pk: Any, reason: str) -> None:
        with _plugin(choices) as api:
            _shown(CommandOutput(choices), api.post(f"{PATH}/{pk}/{verb}", {"reason": reason}))


_move("pause", "Pause a redrive; `resume` continues it.")
_move("resume", "Resume a redrive after a pause or a stop.")
_move("abort", "Abort a redrive: entries that were sent continue, the others stay open.")
