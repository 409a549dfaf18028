"""`manage.py valkyr_views`: create the SQL views, and login roles of BI tools that read them."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from executions.public.access import Actor
from executions.public.commands import CommandWithExamples
from executions.public.database import connection
from executions.public.errors import ValkyrError
from valkyr_plugins.sql_views import granting, installing
from valkyr_plugins.sql_views.conf import schema
from valkyr_plugins.sql_views.models import SqlGrant

EXAMPLES = """
examples:
  manage.py valkyr_views install
  manage.py valkyr_views grant metabase --workspace shop --workspace stock
  manage.py valkyr_views list
  manage.py valkyr_views revoke metabase --workspace stock
  manage.py valkyr_views revoke metabase      # all workspaces; drops the role

`migrate` keeps the views up to date. docs/how-to/sql-views.md has connections of BI tools.
"""


class Command(CommandWithExamples):
    """Installs and removes the views, and grants, lists and revokes access to them."""

    help = "Manage the read-only SQL views and the login roles of BI tools that read them."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of the actions."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        actions.add_parser("install", help="create the schema, its views and the reading role")
        actions.add_parser("list", help="list the login roles and their workspaces")
        actions.add_parser("remove", help="drop the views and their schema; revoke all roles first")
        grant = actions.add_parser("grant", help="let a login role read workspaces; creates it")
        _add_role(grant, required=True)
        grant.add_argument(
            "--timeout",
            type=float,
            metavar="SECONDS",
            help="statement_timeout of its sessions (default: as before; for a new role, "
            f"{granting.DEFAULT_SECONDS:g})",
        )
        grant.add_argument(
            "--connections",
            type=int,
            metavar="N",
            help="maximum number of its connections (default: as before; for a new role, "
            f"{granting.DEFAULT_CONNECTIONS})",
        )
        revoke = actions.add_parser(
            "revoke", help="revoke workspaces; without a workspace, drop the role"
        )
        _add_role(revoke, required=False)

    def handle(self, *args: Any, **options: Any) -> None:
        """Perform the requested action."""
        try:
            getattr(self, f"_{options['action']}")(options)
        except ValkyrError as error:
            raise CommandError(error.message) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error

    def _install(self, options: dict[str, Any]) -> None:
        done = installing.install()
        self.stdout.write(
            f"The views in the schema {schema()} were created."
            if done
            else f"The views in the schema {schema()} are up to date."
        )

    def _grant(self, options: dict[str, Any]) -> None:
        limits = _limits(options)
        role = options["role"]
        password = granting.grant(
            role,
            options["workspace"],
            limits,
            actor=Actor.of_command(),
            reason=options["reason"],
        )
        if password:
            self.stderr.write(f"The role {role} was created. Its password is shown once:")
            self.stdout.write(password)
        self.stderr.write(f"It reads {', '.join(_workspaces(role))}. Connect with:")
        given = connection.settings_dict
        self.stderr.write(
            f"  psql 'postgresql://{role}@{given['HOST'] or 'HOST'}:{given['PORT'] or 5432}/"
            f"{given['NAME']}'"
        )

    def _list(self, options: dict[str, Any]) -> None:
        found = granting.granted()
        for one in found:
            limit = (
                "missing in PostgreSQL: revoke it, or grant again"
                if one.connections is None
                else f"at most {one.connections} connections"
            )
            self.stdout.write(f"{one.role}: {', '.join(one.workspaces)} ({limit})")
        if not found:
            self.stdout.write("No role can read the views. `valkyr_views grant` creates one.")

    def _revoke(self, options: dict[str, Any]) -> None:
        role = options["role"]
        dropped = granting.revoke(
            role, options["workspace"], actor=Actor.of_command(), reason=options["reason"]
        )
        self.stdout.write(
            f"The role {role} was dropped."
            if dropped
            else f"The role {role} still reads {', '.join(_workspaces(role))}."
        )

    def _remove(self, options: dict[str, Any]) -> None:
        if names := [one.role for one in granting.granted()]:
            raise CommandError(
                f"These roles can read the views: {', '.join(names)}. Revoke them first."
            )
        installing.remove()
        self.stdout.write(f"The schema {schema()} was dropped.")


def _add_role(parser: CommandParser, *, required: bool) -> None:
    parser.add_argument("role", metavar="NAME", help="the role's name in PostgreSQL")
    parser.add_argument(
        "--workspace",
        action="append",
        default=[],
        required=required,
        metavar="SLUG",
        help="a workspace; repeat it for several",
    )
    parser.add_argument("--reason", default="", help="the reason, for the audit trail")


def _limits(options: dict[str, Any]) -> granting.RoleLimits:
    seconds, connections = options["timeout"], options["connections"]
    if seconds is not None and not 1 <= seconds <= 86_400:
        raise CommandError("--timeout must be between 1 and 86400 seconds.")
    if connections is not None and not 1 <= connections <= 1000:
        raise CommandError("--connections must be between 1 and 1000.")
    return granting.RoleLimits(seconds, connections)


def _workspaces(role: str) -> list[str]:
    found = SqlGrant.objects.filter(role=role).order_by("workspace__slug")
    return list(found.values_list("workspace__slug", flat=True))
