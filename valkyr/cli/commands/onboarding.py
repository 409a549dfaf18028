"""Set up Valkyr in an existing Django project, and check the setup."""

import difflib
import sys
from pathlib import Path
from typing import Any

import click

from valkyr.cli.errors import Exit, usage
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import CommandOutput

BROKER = "redis://127.0.0.1:6379/0"
NEXT = "Next: python manage.py migrate; then start a worker and beat, and run `valkyr doctor`."


@click.command(cls=ApiCommand)
@click.option(
    "--prefix", default="workflows/", show_default=True, help=("The prefix of the API's URLs.")
)
@click.option(
    "--broker", default=BROKER, show_default=True, help="The broker, for a project without Celery."
)
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.pass_obj
def init(choices: Choices, prefix: str, broker: str, yes: bool, dry_run: bool) -> int:
    """Add what is missing to the Django project in this folder.

    The command shows the changes first, and asks for confirmation. A second run changes nothing. If
    a file cannot be edited safely, the command does not change it, prints what to add by hand, and
    exits with 1.
    """
    from valkyr.cli.init import changes
    from valkyr.cli.init.project import project_in
    from valkyr.cli.project_settings import SETTINGS

    output = CommandOutput(choices)
    root = Path.cwd()
    project = project_in(root, choices.settings, choices.environment.get(SETTINGS))
    plan = changes.plan(project, prefix.strip("/") + "/" if prefix.strip("/") else "", broker)
    diffs = {source.path: source.diff(root) for source in plan.edited}
    diffs |= {path: _new_file(path.relative_to(root), text) for path, text in plan.created.items()}
    if not choices.json:
        _show(output, list(diffs.values()), plan)
    wanted = bool(diffs) and not dry_run and _agreed(choices, yes, len(diffs))
    if wanted:
        for source in plan.edited:
            source.write()
        for path, text in plan.created.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    _tell(output, root, diffs, plan, wanted)
    return Exit.FAILED if plan.by_hand else Exit.OK


def _new_file(name: Path, text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(difflib.unified_diff([], lines, "/dev/null", f"b/{name.as_posix()}"))


def _show(output: CommandOutput, diffs: list[str], plan: Any) -> None:
    if not output.quiet:
        for diff in diffs:
            output.text(diff)
    for left in plan.by_hand:
        output.warn(f"By hand: {left.what}. {left.why}\n" + _indented(left.add))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _agreed(choices: Choices, yes: bool, files: int) -> bool:
    if yes:
        return True
    if choices.json or not sys.stdin.isatty():
        raise usage(
            "These changes need a confirmation, but there is no terminal.",
            "Use --yes to write them, or --dry-run to only show them.",
        )
    return click.confirm(f"Write these changes to {files} files?", default=True, err=True)


def _tell(
    output: CommandOutput, root: Path, diffs: dict[Path, str], plan: Any, written: bool
) -> None:
    if output.json:
        output.value({
            "written": written,
            "changes": [
                {"file": path.relative_to(root).as_posix(), "diff": diff}
                for path, diff in diffs.items()
            ],
            "byHand": [
                {"what": left.what, "why": left.why, "add": left.add} for left in plan.by_hand
            ],
        })  # fmt: skip
    elif written:
        output.note(f"Wrote {len(diffs)} files. {NEXT}")
    elif not diffs:
        output.note("Nothing to change." if plan.by_hand else "No changes are needed.")
    else:
        output.note("Nothing was written.")


@click.command(cls=ApiCommand)
@click.option("--strict", is_flag=True, help="Also fail if there is only advice.")
@click.pass_obj
def doctor(choices: Choices, strict: bool) -> int:
    """Check that the Django project in this folder has everything that workflows need.

    Checks the settings, URLs, Celery app, database, migrations, clocks, users and modules, and
    whether the broker, beat and a worker for each queue are running. Exits with 1 if a check fails.
    """
    from valkyr.cli.doctor import examine

    output = CommandOutput(choices)
    with output.progress("Looking"):
        report = examine(choices)
    failed = report.failed or (strict and bool(report.findings))
    if choices.json:
        output.value({
            "ok": not failed,
            "parts": report.parts,
            "findings": [one.as_json() for one in report.findings],
        })  # fmt: skip
        return Exit.FAILED if failed else Exit.OK
    for part in report.parts:
        found = report.of(part)
        if not found and not output.quiet:
            output.text(f"ok       {part}")
        for one in found:
            kind = "advice " if one.warning else "problem"
            output.text(f"{kind}  {part}: {one.message} ({one.id})\n         {one.hint}")
    output.note("Problems found." if failed else "No problems found.")
    return Exit.FAILED if failed else Exit.OK
