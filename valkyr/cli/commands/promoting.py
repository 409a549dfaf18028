"""Copy a published version from one environment to another, and compare the checksums."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from valkyr.cli import profiles
from valkyr.cli.commands.bundles import PlanCommand
from valkyr.cli.connecting import connected
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.inputs import workflow_id
from valkyr.cli.options import Choices
from valkyr.cli.output import CommandOutput
from valkyr.cli.plans import (
    CHANGES,
    ask_plan,
    carry_out,
    chosen_workspace,
    confirmed,
    refuse_problems,
    show_plan,
)

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

SUBWORKFLOW = "flow.subworkflow"
MOST = 50


@dataclass(frozen=True)
class VersionToMove:
    """A published version: the workflow's slug, the number, the checksum and the document."""

    slug: str
    number: int
    checksum: str
    document: dict[str, Any]


@click.command(cls=PlanCommand)
@click.argument("name", metavar="NAME")
@click.option(
    "--from",
    "source",
    metavar="ENV",
    required=True,
    help="A profile, a workspace, or PROFILE/WORKSPACE.",
)
@click.option(
    "--to",
    "target",
    metavar="ENV",
    required=True,
    help="A profile, a workspace, or PROFILE/WORKSPACE.",
)
@click.option("--version", type=click.IntRange(1), help="Default: the latest published version.")
@click.option("--alone", is_flag=True, help="Do not copy the workflows that it calls.")
@click.option(
    "--any-checksum",
    is_flag=True,
    help="Accept another checksum, from other defaults at the destination.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")
@click.pass_obj
def promote(
    choices: Choices,
    name: str,
    source: str,
    target: str,
    version: int | None,
    alone: bool,
    any_checksum: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Copy a published version from one environment to another, and compare the checksums.

    The workflows that it calls are copied too. The command lists the credentials that are missing
    at the destination. ENV is a profile (`valkyr login --profile`), a workspace of the selected
    installation, or PROFILE/WORKSPACE. With --dry-run, exits with 2 if something would change.
    """
    output = CommandOutput(choices)
    with ExitStack() as stack:
        origin, from_where = _environment(choices, source, stack)
        moved = list(_versions(origin, from_where["id"], name, version, alone=alone))
        destination, to_where = _environment(choices, target, stack)
        bundle: dict[str, Any] = {"workflows": {one.slug: one.document for one in moved}}
        if not any_checksum:
            bundle["checksums"] = {one.slug: one.checksum for one in moved}
        plan = ask_plan(destination, to_where["id"], bundle)
        plan["kept"] = []  # workflows from Git in the target are not affected
        for one in moved:
            output.note(
                f"{one.slug} version {one.number} ({one.checksum[:12]}) of {from_where['slug']}"
            )
        if not choices.json:
            show_plan(output, plan, lambda path: path)
        if dry_run or not plan["valid"]:
            if choices.json:
                output.value({"workspace": to_where["slug"], **plan})
            refuse_problems(plan)
            return CHANGES if plan["changes"] else Exit.OK
        if plan["changes"] and not confirmed(output, yes=yes):
            raise CliError("Nothing was changed.", Exit.FAILED)
        done = carry_out(destination, to_where["id"], bundle, plan["fingerprint"])
    if choices.json:
        output.value({"workspace": to_where["slug"], **done})
    elif plan["changes"]:
        output.note(f"Promoted {moved[0].slug} to {to_where['slug']}.")
    return Exit.OK


def _environment(
    choices: Choices, text: str, stack: ExitStack
) -> tuple["ApiClient", dict[str, Any]]:
    """Return the client and the workspace that an ENV argument names."""
    known = {} if choices.local else profiles.load(choices.config).profiles
    profile, slash, workspace = text.partition("/")
    if slash and profile not in known:
        raise usage(
            f"There is no profile {profile!r} in {choices.config}.",
            f"Create it: valkyr login --profile {profile}",
        )
    if not slash:
        profile, workspace = (text, "") if text in known else ("", text)
    chosen = replace(choices, profile=profile, url=None, token=None) if profile else choices
    api = stack.enter_context(connected(chosen))
    return api, chosen_workspace(api, workspace)


def _versions(
    api: "ApiClient", workspace: str, name: str, version: int | None, *, alone: bool
) -> Iterator[VersionToMove]:
    """Yield the version, then the latest version of each workflow called directly or indirectly."""
    waiting, seen = [(name, version, True)], set[str]()
    while waiting:
        called, number, required = waiting.pop(0)
        found = _version(api, workspace, called, number, required=required)
        if found is None or found.slug in seen:
            continue
        seen.add(found.slug)
        if len(seen) > MOST:
            raise usage(f"{name} calls more than {MOST} workflows.", "Use --alone.")
        yield found
        if not alone:
            waiting += [(slug, None, False) for slug in called_by(found.document)]


def _version(
    api: "ApiClient", workspace: str, name: str, number: int | None, *, required: bool
) -> VersionToMove | None:
    """Return a published version; None for a called workflow that cannot be read."""
    try:
        row = api.get(f"/v1/Workflow/{workflow_id(api, name, workspace)}")
    except CliError:
        if required:
            raise
        return None
    wanted = number or row["latestVersion"]
    if wanted is None:
        raise CliError(
            f"Workflow {row['slug']!r} has no published version.",
            Exit.CONFLICT,
            hint="Publish it first: only published versions are promoted.",
        )
    found = api.get(f"/v1/Workflow/{row['id']}/versions/{wanted}")
    if found["kind"] != "published":
        raise usage(f"Version {wanted} of {row['slug']!r} is a test version.")
    return VersionToMove(row["slug"], wanted, found["checksum"], found["source"])


def called_by(document: dict[str, Any]) -> list[str]:
    """Return the slugs of the workflows that a definition calls; computed slugs are omitted."""
    found = dict[str, None]()
    after = (document.get("settings") or {}).get("onFailure") or {}
    if isinstance(after, dict) and isinstance(after.get("workflow"), str):
        found[after["workflow"]] = None
    for slug in _calls(document.get("tasks")):
        found[slug] = None
    return list(found)


def _calls(tasks: Any) -> Iterator[str]:
    for task in tasks if isinstance(tasks, list) else ():
        steps = [task, *(task.get("modules") or ()), task.get("undo") or {}]
        for step in steps:
            slug = (step.get("with") or {}).get("workflow")
            if step.get("use") == SUBWORKFLOW and isinstance(slug, str) and "{" not in slug:
                yield slug
        yield from _calls((task.get("body") or {}).get("tasks"))
