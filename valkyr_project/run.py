"""`python -m valkyr_project.run web|worker|beat|flower|migrate`: one process of an installation.

The command replaces itself with that process (exec), so signals and exit codes are the process's
own. Settings come from the environment; options select, for example, the address or the queue.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from valkyr_project.processes import commands
from valkyr_project.processes.commands import Pool, ProcessCommand


def main(arguments: Sequence[str] | None = None) -> None:
    """Become the process that the arguments name; exit with status 2 if they are invalid."""
    program = chosen(sys.argv[1:] if arguments is None else arguments)
    environment = {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "PYTHONUNBUFFERED": "1",
        **os.environ,
        **program.environment,
    }
    os.execvpe(program.command[0], program.command, environment)  # noqa: S606 - our own command


def chosen(arguments: Sequence[str]) -> ProcessCommand:
    """Return the command that the arguments select. Exits with status 2 if they are invalid."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.process == "web":
        return commands.web(given.host, given.port, given.grace)
    if given.process == "worker":
        return _worker(given)
    if given.process == "beat":
        return commands.beat()
    if given.process == "flower":
        sign_in = os.environ.get("FLOWER_BASIC_AUTH", "")
        if ":" not in sign_in:
            parser.error("FLOWER_BASIC_AUTH is empty; set it to user:password")
        return commands.flower(given.host, given.port, sign_in)
    return commands.migrate(*(("--wait", str(given.wait)) if given.wait else ()))


def _worker(given: argparse.Namespace) -> ProcessCommand:
    usual = commands.pool_of(given.queue)
    pool = Pool(given.pool or usual.kind, given.concurrency or usual.size)
    if given.pool == "prefork" and not given.concurrency and usual.kind == "threads":
        pool = commands.pool_of("default")
    always = given.task_events or commands.reports_always(os.environ.get("VALKYR_TASK_EVENTS", ""))
    return commands.worker(given.queue, pool, task_events=always)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m valkyr_project.run", description=__doc__)
    processes = parser.add_subparsers(dest="process", required=True)
    web = processes.add_parser("web", help="admin, API and health")
    _listening(web, 8000)
    web.add_argument(
        "--grace", type=_positive, default=20, help=("seconds that requests may take at shutdown")
    )
    worker = processes.add_parser("worker", help="executes the steps of a queue")
    worker.add_argument("--queue", required=True, help="control, default, io, or your own queue")
    worker.add_argument(
        "--pool", choices=("threads", "prefork"), help=("default: depends on the queue")
    )
    worker.add_argument("--concurrency", type=_positive, help="default: depends on the queue")
    worker.add_argument(
        "--task-events",
        action="store_true",
        help="report each message to Flower even if no user views it",
    )
    processes.add_parser("beat", help="sends schedules and duties; start two, one is elected")
    _listening(processes.add_parser("flower", help="shows the state of workers"), 5555)
    migrate = processes.add_parser("migrate", help="update the database tables, then end")
    migrate.add_argument(
        "--wait",
        type=_positive,
        metavar="SECONDS",
        help=("only wait until the tables are up to date"),
    )
    return parser


def _listening(parser: argparse.ArgumentParser, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=_positive, default=port, help="(%(default)s)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


if __name__ == "__main__":
    main()
