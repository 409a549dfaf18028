"""Watch an execution as it runs."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from valkyr.cli.connecting import connected
from valkyr.cli.errors import Exit
from valkyr.cli.following import follow
from valkyr.cli.options import ApiCommand, Choices
from valkyr.cli.output import STYLES, CommandOutput


@click.command(cls=ApiCommand)
@click.argument("execution", metavar="ID", type=click.UUID)
@click.pass_obj
def watch(choices: Choices, execution: Any) -> int:
    """Follow an execution until it ends.

    Exits with 1 if the execution does not succeed. With --json, prints each event of the stream as
    a line.
    """
    view = _View(CommandOutput(choices))
    with connected(choices) as api, view.screen():
        for event in follow(api, str(execution)):
            view.take(event.name, event.data)
    return Exit.OK if view.state == "SUCCESS" else Exit.FAILED


class _View:
    """The newest state of the execution and its runs, shown as a live table or as lines."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._runs: dict[str, dict[str, Any]] = {}
        self._live: Any = None
        self.state = ""

    def screen(self) -> AbstractContextManager[Any]:
        """Return a context manager; on a terminal, without --json or --quiet, it shows a table."""
        if self._output.console is None or self._output.json or self._output.quiet:
            return nullcontext()
        from rich.live import Live

        self._live = Live(console=self._output.console, refresh_per_second=8)
        live: AbstractContextManager[Any] = self._live
        return live

    def take(self, name: str, data: dict[str, Any]) -> None:
        """Show an event of the stream. Rows can repeat, so only changes are printed as text."""
        before, was = dict(self._runs), self.state
        if name == "snapshot":
            self._runs = {}
        self._runs |= {run["id"]: run for run in data.get("runs", [])}
        execution = data.get("execution") or {}
        self.state = execution.get("state", self.state)
        if self._output.json:
            self._output.line({"event": name, **data})
        elif self._live is not None:
            self._live.update(self._table())
        elif not self._output.quiet:
            for run in data.get("runs", []):
                if before.get(run["id"], {}).get("state") != run["state"]:
                    self._output.text(_line(data["now"], run))
            if self.state != was:
                error = execution.get("errorMessage") or ""
                self._output.text(f"{_at(data['now'])}  execution  {self.state}  {error}".rstrip())

    def _table(self) -> Any:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        made = Table("STEP", "ATTEMPT", "STATE", "MS", "ERROR", box=box.SIMPLE_HEAD)
        made.title = Text(self.state, STYLES.get(self.state, ""))
        shown = [run for run in self._runs.values() if not run["superseded"]]
        for run in shown[-self._output.console.height + 6 :]:
            milliseconds = "" if run["durationMs"] is None else str(round(run["durationMs"]))
            state = Text(run["state"], STYLES.get(run["state"], ""))
            step, error = Text(run["stepPath"]), Text(run["error"] or "")
            made.add_row(step, str(run["attempt"]), state, milliseconds, error)
        return made


def _line(now: str, run: dict[str, Any]) -> str:
    error = f"  {run['error']}" if run["error"] else ""
    return f"{_at(now)}  {run['stepPath']}#{run['attempt']}  {run['state']}{error}"


def _at(now: str) -> str:
    return f"{now[11:19]}Z"
