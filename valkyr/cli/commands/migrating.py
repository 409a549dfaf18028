"""Migrate live executions to another version of their workflow (the plugin `version_migration`)."""

import time
from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import usage
from valkyr.cli.following import patiently
from valkyr.cli.inputs import workflow_id
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

PATH = "/v1/ExecutionMigration"
LOOK_SECONDS = 1.0
MOST_SHOWN = 100
COLUMNS: Any = [
    ("State", "state"),
    ("Reason for the pause", "pauseReason"),
    ("From version", "fromVersion"),
    ("To version", "toVersion"),
    ("Executions", "total"),
    ("Queued", "queued"),
    ("Moved", "moved"),
    ("Refused", "refused"),
    ("Skipped", "skipped"),
]
TABLE: Any = [
    ("ID", "id"),
    ("STATE", "state"),
    ("FROM", "fromVersion"),
    ("TO", "toVersion"),
    ("TOTAL", "total"),
    ("MOVED", "moved"),
    ("REFUSED", "refused"),
    ("CREATED", "createdAt"),
    ("BY", "createdBy"),
]
GROUPS: Any = [
    ("VERDICT", "verdict"),
    ("EXECUTIONS", "count"),
    ("GO ON AT", lambda row: ", ".join(row["at"]) or "the beginning"),
    ("START AT ONCE", lambda row: ", ".join(row["starts"])),
    ("BECAUSE", lambda row: " ".join(row["reasons"])),
]
RESULTS: Any = [
    ("EXECUTION", "executionId"),
    ("STATE", "state"),
    ("AT", "at"),
    ("REASON", "reason"),
]


@click.group("migrate-executions")
def migrate_executions() -> None:
    """Move live executions to another version of their workflow.

    `plan` lists them and shows what would happen; `start` moves them. This is not Django's
    `migrate`, which changes tables.
    """


def _names(pairs: tuple[str, ...]) -> dict[str, str]:
    names = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise usage(f"--step: expected OLD=NEW, found {pair!r}.")
        names[old] = new
    return names


@migrate_executions.command(cls=ApiCommand)
@click.argument("name")
@click.option("--workspace", metavar="NAME", help="The workflow's workspace.")
@click.option(
    "--from",
    "source",
    type=click.IntRange(1),
    required=True,
    help="The version that the executions leave.",
)
@click.option("--to", "target", type=click.IntRange(1), help="Default: the latest version.")
@click.option(
    "--step", "steps", multiple=True, metavar="OLD=NEW",
    help="A renamed step; repeat the option for each step. In a container: refine.draft=write.",
)  # fmt: skip
@click.option(
    "--execution",
    "ids",
    multiple=True,
    metavar="ID",
    help="Move only this execution; repeat the option for several.",
)
@click.option("--rate", type=float, help="Executions per second. Default: as fast as possible.")
@click.option(
    "--canary", type=click.IntRange(0), default=0, show_default=True,
    help="Pause after this many moved executions.",
)  # fmt: skip
@click.option(
    "--patience", type=click.IntRange(0), default=300, show_default=True,
    help="How long to retry an execution while one of its steps runs, in seconds.",
)  # fmt: skip
@click.option("--reason", default="", help="For the audit trail.")
@click.pass_obj
def plan(  # noqa: PLR0913, PLR0917 - one argument an option
    choices: Choices,
    name: str,
    workspace: str | None,
    source: int,
    target: int | None,
    steps: tuple[str, ...],
    ids: tuple[str, ...],
    rate: float | None,
    canary: int,
    patience: int,
    reason: str,
) -> None:
    """List the live executions of a version, and show where they would continue; move none.

    NAME is the workflow's id, slug or name. To start the migration, pass its ID to `start`.
    """
    body: dict[str, Any] = {
        "fromVersion": source,
        "toVersion": target,
        "steps": _names(steps),
        "ratePerSecond": rate,
        "canary": canary,
        "patienceSeconds": patience,
        "reason": reason,
    }
    if ids:
        body["ids"] = list(ids)
    with connected(choices) as api:
        body["workflowId"] = workflow_id(api, name, workspace)
        made = api.post(PATH, body)
        found = api.post(f"{PATH}/{made['id']}/preview", {})
    _shown(choices, made, found)


def _shown(choices: Choices, made: dict[str, Any], found: dict[str, Any]) -> None:
    output = CommandOutput(choices)
    if choices.json:
        output.value(made | {"preview": found})
        return
    output.record(made, COLUMNS)
    if not choices.quiet:
        output.table(found["groups"], GROUPS)


@migrate_executions.command(cls=ApiCommand)
@click.argument("migration")
@click.pass_obj
def preview(choices: Choices, migration: str) -> None:
    """Preview the effects of a migration for each group of executions."""
    with connected(choices) as api:
        made = api.get(f"{PATH}/{migration}")
        found = api.post(f"{PATH}/{migration}/preview", {})
    _shown(choices, made, found)


@migrate_executions.command("list", cls=ApiCommand)
@click.pass_obj
def list_migrations(choices: Choices) -> None:
    """List the latest migrations."""
    with connected(choices) as api:
        found = api.get(PATH)
    CommandOutput(choices).table(found, TABLE)


@migrate_executions.command(cls=ApiCommand)
@click.argument("migration")
@click.pass_obj
def show(choices: Choices, migration: str) -> None:
    """Show the progress of a migration."""
    with connected(choices) as api:
        found = api.get(f"{PATH}/{migration}")
    CommandOutput(choices).record(found, COLUMNS)


@migrate_executions.command(cls=ApiCommand)
@click.argument("migration")
@click.option(
    "--state",
    type=click.Choice(["queued", "moved", "refused", "skipped", "cancelled"]),
    help="Only executions in this state.",
)
@click.pass_obj
def results(choices: Choices, migration: str, state: str | None) -> None:
    """List the first 100 executions of a migration, with their states and the reasons."""
    wanted = None if state is None else state.upper()
    with connected(choices) as api:
        found = api.get(f"{PATH}/{migration}/executions", limit=MOST_SHOWN, state=wanted)
    CommandOutput(choices).table(found, RESULTS)


def _moves(verb: str, help_text: str, *, waits: bool = False) -> None:
    @migrate_executions.command(verb, cls=ApiCommand, help=help_text)
    @click.argument("migration")
    @click.option("--reason", default="", help="For the audit trail.")
    @click.option("--wait", is_flag=True, hidden=not waits, help="Wait until it is done or pauses.")
    @click.pass_obj
    def move(choices: Choices, migration: str, reason: str, *, wait: bool) -> None:
        with connected(choices) as api:
            found = api.post(f"{PATH}/{migration}/{verb}", {"reason": reason})
            while wait and waits and found["state"] == "RUNNING":
                time.sleep(LOOK_SECONDS)
                found = patiently(lambda: api.get(f"{PATH}/{migration}"))
        CommandOutput(choices).record(found, COLUMNS)


_moves("start", "Start a planned migration.", waits=True)
_moves("pause", "Move no further executions for now.")
_moves("resume", "Continue after a pause, or after the canaries.", waits=True)
_moves("cancel", "Cancel a migration; executions that have moved stay on their new version.")
