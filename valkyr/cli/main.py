"""The root command: its groups of commands and their exit codes."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from valkyr.cli.commands import COMMANDS
from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.options import Choices, shared_options
from valkyr.cli.output import CommandOutput

HELP = """Run and operate durable workflows.

Commands call the API of an installation, or with --local use the Django project in this folder.
"""


class LazyGroup(click.Group):
    """The group of the commands in `COMMANDS`; a command's module is loaded at its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None for an unknown name."""
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        found: click.Command = getattr(import_module(f"valkyr.cli.commands.{module}"), name)
        return found


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from valkyr import __version__

        click.echo(f"valkyr {__version__}")
        context.exit()


root = LazyGroup(
    "valkyr",
    help=HELP,
    params=[
        *shared_options(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes and examples: docs/reference/cli.md",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (0 by default), or the code of its error."""
    choices = Choices()
    try:
        code = _run(arguments, choices)
        sys.stdout.flush()
    except CliError as error:
        CommandOutput(choices).error(error)
        return error.code
    except click.ClickException as error:
        _misused(error, arguments, choices)
        return Exit.USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stdout = None
        return Exit.OK
    return code


def _misused(
    error: click.ClickException, arguments: Sequence[str] | None, choices: Choices
) -> None:
    """Print an error about the command line, as JSON if requested."""
    # Search all arguments, because those after the mistake were not parsed.
    choices.json |= "--json" in (sys.argv[1:] if arguments is None else arguments)
    if not choices.json:
        error.show()
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"`{context.command_path} --help` lists its arguments and options." if context else ""
    CommandOutput(choices).error(usage(error.format_message(), hint))


def _run(arguments: Sequence[str] | None, choices: Choices) -> int:
    given: Any = None if arguments is None else list(arguments)
    code = root.main(given, prog_name="valkyr", obj=choices, standalone_mode=False)
    return code if isinstance(code, int) else Exit.OK
