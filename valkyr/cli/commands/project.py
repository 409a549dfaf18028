"""Commands for this machine: the platform, the project's own commands, and shell completion."""

from importlib import import_module

import click
from click.shell_completion import get_completion_class

from valkyr.cli.errors import missing_package
from valkyr.cli.options import Choices

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}


class PassingOn(click.Command):
    """A command that passes its arguments on unchanged; otherwise, click would remove `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the arguments unchanged; return none for click to parse."""
        ctx.params["arguments"] = tuple(args)
        return []


@click.command(context_settings=PASS_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def up(arguments: tuple[str, ...]) -> int:
    """Start the whole platform on this machine, until Ctrl-C."""
    # Imported by name, because the platform is above this layer, and optional.
    try:
        platform = import_module("valkyr_project.up.run")
    except ModuleNotFoundError as error:
        raise missing_package(error.name, "platform", "The platform") from error
    code: int = platform.main(arguments)
    return code


@click.command(cls=PassingOn, context_settings=PASS_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def manage(choices: Choices, arguments: tuple[str, ...]) -> None:
    """Run a management command, such as `manage prune --help`."""
    _manage(choices, arguments)


@click.command(cls=PassingOn, context_settings=PASS_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def sql(choices: Choices, arguments: tuple[str, ...]) -> None:
    """Run one SELECT over the SQL views of this project's database: `sql "SELECT …"`."""
    # The management command parses `--list`, `--format` and the other options.
    _manage(choices, ("valkyr_sql", *arguments))


def _manage(choices: Choices, arguments: tuple[str, ...]) -> None:
    from valkyr.cli.project_settings import set_up

    set_up(choices.settings, choices.environment)
    from django.core.management import execute_from_command_line

    execute_from_command_line(["valkyr manage", *arguments])


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    Add to the shell's profile: `eval "$(valkyr completion bash)"`.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # the choices are click's own
    click.echo(kind(context.find_root().command, {}, "valkyr", "_VALKYR_COMPLETE").source())
