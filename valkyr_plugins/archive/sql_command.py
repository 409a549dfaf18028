"""The command-line options and the output of SQL queries over the archive."""

from argparse import ArgumentTypeError
from datetime import date
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.public.access import Action, workspaces_of
from executions.public.commands import add_query_arguments, result_lines
from executions.public.models import Permission, Workspace
from valkyr_plugins.archive.asking import ArchiveQuestion, ask


def add_sql_arguments(parser: CommandParser) -> None:
    """Add the arguments of a SQL query: the statement, what it reads, its limits and its format."""
    parser.add_argument("statement", help="one SELECT over executions, runs and dead_letters")
    parser.add_argument("--workspace", metavar="SLUG", help="one workspace (default: all)")
    parser.add_argument(
        "--user", metavar="NAME", help="only workspaces of which this user may view the payloads"
    )
    parser.add_argument("--since", type=_day, metavar="DAY", help="executions that ended then")
    parser.add_argument("--until", type=_day, metavar="DAY", help="the last day")
    add_query_arguments(parser)


def answer_sql(command: BaseCommand, options: dict[str, Any]) -> None:
    """Run the statement and print the rows."""
    found = ask(
        ArchiveQuestion(
            statement=options["statement"],
            workspaces=_workspaces(options["workspace"], options["user"]),
            since=options["since"],
            until=options["until"],
            limit=options["limit"],
            seconds=options["timeout"],
        )
    )
    for line in result_lines(found.columns, found.rows, options["format"]):
        command.stdout.write(line)
    command.stderr.write(f"{len(found.rows):,} rows from {found.files:,} files.")
    if found.more:
        command.stderr.write("There are more rows: set a larger --limit to see them.")


def _workspaces(slug: str | None, name: str | None) -> list[UUID]:
    rows = Workspace.objects.filter(slug=slug) if slug else Workspace.objects.all()
    found = set(rows.values_list("pk", flat=True))
    if slug and not found:
        raise CommandError(f"There is no workspace {slug!r}.")
    if name is not None:
        model: Any = get_user_model()
        user = model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()
        if user is None:
            raise CommandError(f"There is no user {name!r}.")
        found &= set(workspaces_of(user, Action.VIEW))
        found &= set(workspaces_of(user, Permission.VIEW_PAYLOADS))
    return sorted(found)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a day such as 2026-01-31") from None
