"""Apply, or preview, a folder of definitions or the workflows in the project's code."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from valkyr.cli.commands.bundles import PlanCommand, apply_folder, plan_folder
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

PLUGIN = "valkyr_plugins.python_workflows"
COLUMNS = [
    ("WORKFLOW", "slug"),
    ("CHANGE", "change"),
    ("VERSION", "version"),
    ("FROM", "origin"),
]
LEFT = (
    "Workflows that were removed from the code stay published, and their triggers still start "
    "them. Archive them: `valkyr manage check --database default` names the steps that they "
    "still need."
)


FOLDER = click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False)
)
WORKSPACE = click.option(
    "--workspace", metavar="NAME", help="Default: the workspace in valkyr.yaml, else your only one."
)
PRUNE = click.option(
    "--prune",
    is_flag=True,
    help="Archive and delete objects that an earlier apply created and that the folder no longer "
    "has.",
)


@click.command(cls=ApiCommand)
@FOLDER
@WORKSPACE
@PRUNE
@click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")
@click.option(
    "--fingerprint", metavar="TEXT", default="", help="Fail if the plan has another fingerprint."
)
@click.option(
    "--repository",
    metavar="URL",
    default="",
    help="Default: the value from Git or the CI environment.",
)
@click.option(
    "--commit", metavar="SHA", default="", help="Default: the value from Git or the CI environment."
)
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@click.pass_obj
def apply(
    choices: Choices,
    folder: Path | None,
    workspace: str | None,
    prune: bool,
    yes: bool,
    fingerprint: str,
    repository: str,
    commit: str,
    dry_run: bool,
) -> int | None:
    """Apply a folder of definitions in one transaction.

    The command shows the plan first, and asks for confirmation on a terminal. It fails if the
    workspace changes after the plan. Without DIR, and with --local, it publishes the workflows that
    the project's code declares, as `migrate` does.
    """
    if folder is None:
        _show(choices, _changes(choices, "planned" if dry_run else "applied"))
        return None
    if dry_run:
        return plan_folder(choices, folder, workspace, prune=prune)
    source = {"repository": repository, "commit": commit}
    apply_folder(
        choices,
        folder,
        workspace,
        prune=prune,
        yes=yes,
        fingerprint=fingerprint,
        source=source,
    )
    return None


@click.command(cls=PlanCommand)
@FOLDER
@WORKSPACE
@PRUNE
@click.pass_obj
def plan(choices: Choices, folder: Path | None, workspace: str | None, prune: bool) -> int | None:
    """Show what `apply` would change; change nothing.

    With DIR, the command exits with 0 if nothing would change, with 2 if something would, and with
    7 if the definitions have problems. Without DIR, and with --local, it plans the workflows in the
    project's code.
    """
    if folder is None:
        _show(choices, _changes(choices, "planned"))
        return None
    return plan_folder(choices, folder, workspace, prune=prune)


def _changes(choices: Choices, what: str) -> list[dict[str, Any]]:
    if not choices.local:
        raise usage(
            "Name a folder of definitions, or use --local for the workflows in a project's code.",
            "Example: valkyr plan ./definitions",
        )
    from valkyr.cli.project_settings import set_up

    name = set_up(choices.settings, choices.environment)
    from django.apps import apps
    from django.db import Error

    if not apps.is_installed(PLUGIN):
        raise CliError(
            f"{PLUGIN!r} is not in INSTALLED_APPS of {name}.",
            Exit.NOT_INSTALLED,
            hint="Add it, or *valkyr.PLUGINS.",
        )
    from executions.public.errors import ValkyrError
    from valkyr_plugins.python_workflows import changes
    from valkyr_plugins.python_workflows.publishing import UnpublishableError

    try:
        return [asdict(change) for change in getattr(changes, what)()]
    except UnpublishableError as error:
        raise CliError(str(error), Exit.INVALID) from error
    except ValkyrError as error:
        raise CliError(error.message, Exit.CONFLICT) from error
    except Error as error:
        raise CliError(
            f"The database of {name} cannot be used: {str(error).strip()}",
            Exit.UNREACHABLE,
            hint="Check DATABASES, that the server runs, and `manage.py migrate`.",
        ) from error


def _show(choices: Choices, changes: list[dict[str, Any]]) -> None:
    output = CommandOutput(choices)
    if choices.quiet:
        for change in changes:
            if change["change"] != "unchanged":
                output.text(change["slug"])
        return
    output.table(changes, COLUMNS, empty="The code declares no workflow.")
    counted = Counter(change["change"] for change in changes)
    kinds = ("created", "changed", "unchanged", "removed")
    output.note(", ".join(f"{counted[kind]} {kind}" for kind in kinds) + ".")
    if counted["removed"]:
        output.note(LEFT)
