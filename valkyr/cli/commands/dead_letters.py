"""Commands that list, show, requeue and discard dead letters."""

from typing import TYPE_CHECKING, Any

import click

from valkyr.cli.commands.executions import counts_by_label, label_words, told_of_many
from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.inputs import (
    JsonParameter,
    LabelParameter,
    SinceParameter,
    label_query,
    workflow_id,
    workspace_id,
)
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

PATH = "/v1/DeadLetterQueue"
AT_ONCE = 1_000
RESOLUTIONS = ("PENDING", "REQUEUED", "FIXED", "SKIPPED", "DISCARDED", "ALL")
RECORD: Any = [
    ("Dead letter", "id"),
    ("Resolution", "resolution"),
    ("Execution", "executionId"),
    ("Step", "stepPath"),
    ("Module", "module"),
    ("Failure", "failureType"),
    ("Labels", lambda row: label_words(row["labels"])),
    ("Reason", "failureReason"),
    ("Attempts", "attempts"),
    ("Occurrences", "occurrences"),
    ("Group", "groupId"),
    ("Since", "quarantinedAt"),
    ("Resolved", "resolvedAt"),
    ("By", "reviewedBy"),
    ("Notes", "notes"),
    ("Inputs", "originalInputs"),
]


@click.group()
def dead() -> None:
    """List, show, requeue and discard dead letters."""


@dead.command("list", cls=ApiCommand)
@click.option(
    "--workflow", metavar="NAME", help="Only dead letters of this workflow: its id, slug or name."
)
@click.option(
    "--execution", metavar="ID", type=click.UUID, help="Only dead letters of this execution."
)
@click.option(
    "--group", metavar="ID", type=click.UUID, help="Only dead letters of this failure group."
)
@click.option(
    "--resolution",
    type=click.Choice(RESOLUTIONS, case_sensitive=False),
    default="PENDING",
    show_default=True,
)
@click.option("--text", help="Only dead letters whose reason contains this text.")
@click.option(
    "--label",
    "labels",
    type=LabelParameter(),
    multiple=True,
    help="Only dead letters of executions with this label.",
)
@click.option(
    "--by-label",
    metavar="NAME",
    help="Count the newest 10,000 dead letters by the values of this label.",
)
@click.option(
    "--since",
    type=SinceParameter(),
    help="Only dead letters created since: 30m, 2h, 7d, or a time.",
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@click.option("--workspace", metavar="NAME", help="Only dead letters of this workspace.")
@click.pass_obj
def list_letters(choices: Choices, /, limit: int, workspace: str | None, **given: Any) -> None:
    """List dead letters, newest first: the open ones by default."""
    with connected(choices) as api:
        workflow = given["workflow"]
        query = {
            "workflowId": workflow and workflow_id(api, workflow, workspace),
            "workspaceId": workspace and workspace_id(api, workspace),
            "executionId": given["execution"],
            "groupId": given["group"],
            "resolution": None if given["resolution"] == "ALL" else given["resolution"],
            "text": given["text"],
            "quarantinedAfter": given["since"],
        }
        if given["by_label"] is not None:
            _counts(choices, api, query, given)
            return
        query["label"] = label_query(given["labels"])
        rows = list(api.rows(PATH, limit, **query))
        more = api.more
    columns = [
        ("ID", "id"),
        ("STEP", "stepPath"),
        ("MODULE", "module"),
        ("RESOLUTION", "resolution"),
        ("REASON", "failureReason"),
        ("SINCE", "quarantinedAt"),
    ]
    CommandOutput(choices).table(rows, columns, empty="No dead letters match.", more=more, cut=True)


def _counts(choices: Choices, api: "ApiClient", query: Any, given: dict[str, Any]) -> None:
    """Print counts per label value. Raises CliError for filters that counts do not support."""
    if any(given[name] is not None for name in ("execution", "group", "text")):
        also = "--workflow, --workspace, --resolution and --since"
        raise usage(f"--by-label can be combined with {also} only.")
    wanted = {name: query[name] for name in ("workflowId", "workspaceId", "resolution")}
    wanted["createdAfter"] = query["quarantinedAfter"]
    counts_by_label(choices, api, PATH, given["by_label"], given["labels"], wanted)


@dead.command("show", cls=ApiCommand)
@click.argument("letter", metavar="ID", type=click.UUID)
@click.pass_obj
def show_letter(choices: Choices, letter: Any) -> None:
    """Show a dead letter: why its step failed, and with which inputs."""
    with connected(choices) as api:
        CommandOutput(choices).record(api.get(f"{PATH}/{letter}"), RECORD)


@dead.command(cls=ApiCommand)
@click.argument("letters", metavar="ID…", nargs=-1, required=True, type=click.UUID)
@click.option(
    "--input", "overrides", type=JsonParameter(), help="JSON to merge into the step's inputs."
)
@click.pass_obj
def requeue(choices: Choices, letters: tuple[Any, ...], overrides: Any) -> int:
    """Requeue dead letters: their steps run again, and their executions continue.

    Exits with 1 if any of several could not be requeued. To requeue many at a set rate, use `valkyr
    redrive`.
    """
    output, body = CommandOutput(choices), overrides or {}
    with connected(choices) as api:
        if len(letters) == 1:
            run = api.post(f"{PATH}/{letters[0]}/requeue", body)
            columns = [("Run", "id"), ("Execution", "executionId"), ("Step", "stepPath")]
            output.record(run, [*columns, ("Attempt", "attempt"), ("State", "state")])
            return Exit.OK
        with output.progress("Requeueing") as progress:
            done = _each_requeued(api, [str(pk) for pk in dict.fromkeys(letters)], body, progress)
    return told_of_many(output, done)


def _each_requeued(api: "ApiClient", letters: list[str], body: Any, progress: Any) -> Any:
    """Requeue each dead letter; return the IDs of the requeued ones, and the refusals.

    Raises CliError for an error that is not about a single dead letter.
    """
    done: dict[str, Any] = {"done": [], "refused": []}
    for number, letter in enumerate(letters):
        if progress is not None:
            progress.update(f"{number} of {len(letters)} done")
        try:
            api.post(f"{PATH}/{letter}/requeue", body)
        except CliError as error:
            if error.status is None or error.status in {401, 429} or error.status >= 500:
                error.hint = (
                    f"{len(done['done'])} dead letters were requeued before the error. {error.hint}"
                ).rstrip()
                raise
            told = {"id": letter, "code": error.problem.get("code"), "message": error.message}
            done["refused"].append(told)
        else:
            done["done"].append(letter)
    return done


@dead.command(cls=ApiCommand)
@click.argument("letters", metavar="ID…", nargs=-1, required=True, type=click.UUID)
@click.option("--notes", required=True, help="The reason; stored with each dead letter.")
@click.pass_obj
def discard(choices: Choices, letters: tuple[Any, ...], notes: str) -> int:
    """Discard dead letters. Exits with 1 if any of several could not be discarded."""
    output, ids = CommandOutput(choices), list(dict.fromkeys(str(pk) for pk in letters))
    with connected(choices) as api:
        if len(ids) == 1:
            output.record(api.post(f"{PATH}/{ids[0]}/discard", {"notes": notes}), RECORD)
            return Exit.OK
        done: dict[str, Any] = {"done": [], "refused": []}
        for at in range(0, len(ids), AT_ONCE):
            answer = api.post(f"{PATH}/discard", {"ids": ids[at : at + AT_ONCE], "notes": notes})
            done = {name: rows + answer[name] for name, rows in done.items()}
    return told_of_many(output, done)
