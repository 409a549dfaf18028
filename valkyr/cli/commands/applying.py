"""Publish the workflows that this project's code declares, or preview the changes."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import click

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


@click.command(cls=ApiCommand)
@click.option("--dry-run", is_flag=True, help="Show what would change; publish nothing.")
@click.pass_obj
def apply(choices: Choices, dry_run: bool) -> None:
    """Publish the workflows that the project's code declares, as `migrate` does.

    It needs --local: the code is in this project. Unchanged workflows get no version.
    """
    _show(choices, _changes(choices, "planned" if dry_run else "applied"))


@click.command(cls=ApiCommand)
@click.pass_obj
def plan(choices: Choices) -> None:
    """Show what `apply` would change; publish nothing. It needs --local."""
    _show(choices, _changes(choices, "planned"))


def _changes(choices: Choices, what: str) -> list[dict[str, Any]]:
    if not choices.local:
        raise usage(
            "This command needs a project's code.", ("Change to its folder and use --local.")
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
