"""List the cells, prepare and migrate their databases, and move workspaces between cells."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models import ProtectedError

from executions.configuration import settings
from executions.database import connection, routing
from executions.database.advisory_locks import AdvisoryLock
from executions.database.poolers import past_the_pooler
from executions.models import WorkflowExecution, Workspace, WorkspaceMove
from executions.states import ExecutionState
from runners.moving import copying, fence, moves, sessions
from runners.workers.queues import served

OLDEST = 150000
HELP = """
A cell is a further database with its own workspaces, workers and beat (VALKYR_CELLS). Run this
where web processes run: without VALKYR_CELL.
"""
ACTIONS = {
    "status": "list the cells with their migrations, workspaces, running executions and workers",
    "migrate": "migrate the databases of all cells, or of those that are named",
    "add": "check and prepare the empty database of a new cell",
    "move": "move a workspace to another cell, or go on with its move",
    "abort": "let a workspace continue in its cell, whose move has not switched",
}
GO_ON = (
    "`valkyr_cells status` lists unfinished moves: run `valkyr_cells move` again to go on, or "
    "`valkyr_cells abort`."
)
FIRST = "-"  # the name to show for the first database, which has none
REFUSALS = (
    moves.MoveRefused,
    sessions.NotAllowed,
    fence.StillWriting,
    moves.PauseTooLong,
    copying.RowsDiffer,
)


class Command(BaseCommand):
    """Show or migrate cells, prepare a new cell, move a workspace to a cell, or abort a move."""

    requires_system_checks = []
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the actions with their arguments."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in ACTIONS.items():
            action = actions.add_parser(name, help=text, description=text)
            if name == "migrate":
                action.add_argument("cells", nargs="*", metavar="CELL", help="default: all cells")
            elif name == "add":
                action.add_argument("cell", metavar="CELL", help="its name in VALKYR_CELLS")
            elif name in ("move", "abort"):
                action.add_argument("workspace", metavar="WORKSPACE", help="its slug or id")
            if name == "move":
                _add_options_of_move(action)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the action. Raises CommandError if it fails or the settings do not allow it."""
        known = settings()
        if not known.cells:
            raise CommandError(
                "No cells are configured. Set VALKYR_CELLS, or VALKYR['CELLS'] in a project. See "
                "docs/how-to/cells.md."
            )
        if known.cell:
            raise CommandError(
                f"VALKYR_CELL is {known.cell!r}; unset it: this command needs all databases."
            )
        getattr(self, f"_{options['action']}")(options)

    def _status(self, options: dict[str, Any]) -> None:
        broken = []
        for cell in ("", *settings().cells):
            problem, line = _standing(cell)
            broken += [_name(cell)] if problem else []
            self.stdout.write(f"{_name(cell):<16}  {line}")
        first_works = _name("") not in broken
        for move in WorkspaceMove.objects.filter(ended_at=None) if first_works else ():
            self.stdout.write(
                f"{move.workspace_id} moves from {_name(move.source)} to {_name(move.target)}: "
                f"{move.state.lower()}, {move.copied} ended executions copied"
            )
        if broken:
            raise CommandError(f"Not ready: {', '.join(broken)}.")

    def _move(self, options: dict[str, Any]) -> None:
        target = "" if options["cell"] == FIRST else options["cell"]
        if target:
            _alias(target)
        try:
            if options["dry_run"]:
                self._show(moves.estimate(options["workspace"], target))
            else:
                pause = options["pause"]
                moves.move(options["workspace"], target, self.stdout.write, pause_seconds=pause)
        except REFUSALS as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"{_first(error)}. {GO_ON}") from error

    def _abort(self, options: dict[str, Any]) -> None:
        try:
            moves.abort(options["workspace"], self.stdout.write)
        except REFUSALS as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"{_first(error)}. {GO_ON}") from error

    def _show(self, found: moves.MoveEstimate) -> None:
        self.stdout.write(f"{found.workspace.slug} is in {_name(found.source)}")
        self.stdout.write(f"before the pause: {found.ended} ended executions")
        self.stdout.write(f"during the pause: {sum(found.paused.values())} rows")
        for table, number in sorted(found.paused.items(), key=lambda pair: -pair[1]):
            if number:
                self.stdout.write(f"  {number:>9}  {table}")
        self.stdout.write(f"estimated pause: at most {found.pause_seconds:.1f} s")

    def _migrate(self, options: dict[str, Any]) -> None:
        failed = []
        for cell in options["cells"] or settings().cells:
            try:
                _migrated(_alias(cell))
            except (DatabaseError, ImproperlyConfigured) as error:
                failed.append(cell)
                self.stderr.write(f"{cell}: {_first(error)}")
            else:
                self.stdout.write(f"{cell}: migrated")
        if failed:
            raise CommandError(f"Not migrated: {', '.join(failed)}. Run the command again.")

    def _add(self, options: dict[str, Any]) -> None:
        alias = _alias(options["cell"])
        try:
            _refuse_unsuitable(options["cell"], alias)
            _migrated(alias)
            with routing.serving(alias):
                _remove_default()
        except OperationalError as error:
            raise CommandError(
                f"The database of {options['cell']} rejected a statement: {_first(error)}. Run the "
                "command again."
            ) from error
        self.stdout.write(
            f"{options['cell']}: ready. Next, start its workers and beat with "
            f"VALKYR_CELL={options['cell']}."
        )


def _add_options_of_move(action: ArgumentParser) -> None:
    action.add_argument("cell", metavar="CELL", help="the target, or - for the first database")
    action.add_argument("--dry-run", action="store_true", help="only show what would be copied")
    action.add_argument(
        "--pause",
        type=float,
        default=moves.PAUSE_SECONDS,
        metavar="SECONDS",
        help="the longest pause; a longer one is broken off (default: %(default)s)",
    )


def _name(cell: str) -> str:
    return cell or "(first)"


def _alias(cell: str) -> str:
    known = settings().cells
    if cell not in known:
        raise CommandError(f"No cell {cell!r} is configured; expected one of {', '.join(known)}.")
    return routing.alias_of(cell)


def _first(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _standing(cell: str) -> tuple[bool, str]:
    """Return whether a cell has a problem, and the text of its status line."""
    try:
        with routing.serving(routing.alias_of(cell)):
            missing = _missing()
            if missing:
                return True, f"{missing} migrations are not applied; run `valkyr_cells migrate`"
            return False, ", ".join(_counts())
    except (DatabaseError, ImproperlyConfigured) as error:
        return True, f"not available: {_first(error)}"
    finally:
        connections.close_all()


def _missing() -> int:
    executor = MigrationExecutor(connections[routing.alias()])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _counts() -> Iterator[str]:
    running = WorkflowExecution.objects.filter(state=ExecutionState.RUNNING)
    queues = sorted(served())
    yield f"{Workspace.objects.filter(archived_at=None).count()} workspaces"
    yield f"{running.count()} running executions"
    yield f"workers of {', '.join(queues)}" if queues else "no worker: its steps wait"


def _refuse_unsuitable(cell: str, alias: str) -> None:
    """Raise CommandError if a database cannot become a cell."""
    same = [one for one in routing.aliases() if one != alias and routing.is_same(one, alias)]
    if same:
        other = _name(routing.cell_of(same[0]))
        raise CommandError(f"{cell} names the same database as {other}; expected one of its own.")
    with routing.serving(alias):
        connection.ensure_connection()
        version = int(connection.pg_version)  # type: ignore[attr-defined]
        if version < OLDEST:
            raise CommandError(f"{cell} is PostgreSQL {version // 10_000}; expected 15 or newer.")


def _migrated(alias: str) -> None:
    """Migrate a database under a lock, so that a second process waits."""
    with (
        routing.serving(alias),
        past_the_pooler(alias),
        connections[alias].cursor() as cursor,
    ):
        cursor.execute("SET lock_timeout = 0; SET statement_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [AdvisoryLock.MIGRATION])
        try:
            call_command("migrate", database=alias, interactive=False, verbosity=0)
        finally:
            connections[alias].close()  # ends the session and thereby releases its lock


def _remove_default() -> None:
    """Delete the workspace that migrations create: its slug must be unique across all cells.

    Raises CommandError if the workspace has objects.
    """
    made = Workspace.objects.filter(slug=Workspace.DEFAULT_SLUG).first()
    if made is not None:
        try:
            made.delete()
        except ProtectedError:
            raise CommandError(
                f"The database already has objects in a workspace {made.slug!r}; expected an empty "
                "database. Rename the workspace if the database is a cell's."
            ) from None
