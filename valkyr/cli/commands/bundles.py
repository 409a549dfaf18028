"""Definitions in Git: export a workspace to a folder, and plan and apply the folder."""

from pathlib import Path
from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit
from valkyr.cli.folder import DefinitionFolder, read_folder, write_folder
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput
from valkyr.cli.plans import (
    CHANGES,
    ask_plan,
    bundle_path,
    carry_out,
    chosen_workspace,
    confirmed,
    refuse_problems,
    show_plan,
)
from valkyr.cli.repository import commit_of


class PlanCommand(ApiCommand):
    """A command whose exit code 2 means that the plan contains changes.

    An invalid command line therefore exits with 1.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Return the context. Raises CliError, with exit code 1, for an invalid command line."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise CliError(error.format_message(), Exit.FAILED) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raises CliError, with exit code 1 instead of 2, for a usage error."""
        try:
            return super().invoke(ctx)
        except CliError as error:
            if error.code == Exit.USAGE:
                error.code = Exit.FAILED
            raise


def plan_folder(choices: Choices, folder: Path, workspace: str | None, *, prune: bool) -> int:
    """Show the changes that applying a folder would make.

    Return 2 for changes, 7 for problems, and otherwise 0.
    """
    output, content = CommandOutput(choices), read_folder(folder)
    with connected(choices) as api:
        place = chosen_workspace(api, workspace or content.workspace)
        bundle = content.bundle | {"prune": prune}
        plan = ask_plan(api, place["id"], bundle)
    if choices.json:
        output.value({"workspace": place["slug"], **_placed(plan, content)})
    else:
        show_plan(output, plan, content.place)
    if not plan["valid"]:
        return Exit.INVALID
    return CHANGES if plan["changes"] else Exit.OK


def apply_folder(
    choices: Choices,
    folder: Path,
    workspace: str | None,
    *,
    prune: bool,
    yes: bool,
    fingerprint: str,
    source: dict[str, str],
) -> None:
    """Show the plan of a folder, then apply it in one transaction. Raises CliError."""
    output, content = CommandOutput(choices), read_folder(folder)
    with connected(choices) as api:
        place = chosen_workspace(api, workspace or content.workspace)
        bundle = content.bundle | {"prune": prune}
        plan = ask_plan(api, place["id"], bundle)
        if not choices.json:
            show_plan(output, plan, content.place)
        elif not plan["valid"]:
            output.value({"workspace": place["slug"], **_placed(plan, content)})
        refuse_problems(plan)
        if plan["changes"] and not confirmed(output, yes=yes):
            raise CliError("Nothing was changed.", Exit.FAILED)
        found = commit_of(folder, choices.environment)
        body = bundle | {"source": {**found, **{k: v for k, v in source.items() if v}}}
        done = carry_out(api, place["id"], body, fingerprint or plan["fingerprint"])
    if choices.json:
        output.value({"workspace": place["slug"], **done})
    elif plan["changes"]:
        many = len(plan["changes"])
        output.note(f"Applied {many} change{'s' * (many > 1)} to {place['slug']}.")


def _placed(plan: dict[str, Any], content: DefinitionFolder) -> dict[str, Any]:
    """Return the plan, with the file and line of each problem added."""
    problems = [one | {"place": content.place(one["path"])} for one in plan["problems"]]
    return plan | {"problems": problems}


def export_folder(
    choices: Choices, folder: Path, workspace: str | None, *, prune: bool, installation: bool
) -> None:
    """Write a workspace's definitions into a folder; do not rewrite unchanged files."""
    output = CommandOutput(choices)
    with connected(choices) as api:
        place = chosen_workspace(api, workspace or "")
        query = {"installation": installation or None}
        exported = api.get(bundle_path(place["id"]), **query)
    written, gone = write_folder(folder, exported, prune=prune)
    if choices.json:
        output.value(
            {
                "workspace": place["slug"],
                "written": [str(path) for path in written],
                "removed": [str(path) for path in gone],
                "leftOut": exported["leftOut"],
            }
        )
        return
    for path in written:
        output.text(str(path))
    for path in gone:
        output.text(f"removed {path}")
    for slug, reason in exported["leftOut"].items():
        output.note(f"{slug} was left out: {LEFT_OUT.get(reason, reason)}.")
    many = len(exported["workflows"])
    what = "1 workflow" if many == 1 else f"{many} workflows"
    output.note(f"Exported {what} of the workspace {place['slug']} to {folder}.")


LEFT_OUT = {
    "from_code": "its code publishes it",
    "never_published": "it has no published version",
}
