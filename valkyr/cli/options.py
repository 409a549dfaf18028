"""The options that most commands share; users can give them before or after the command's name."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from valkyr.cli import profiles
from valkyr.cli.errors import usage


@dataclass
class Choices:
    """The options that were given on the command line, before or after the command's name."""

    url: str | None = None
    token: str | None = None
    profile: str | None = None
    local: bool = False
    user: str | None = None
    settings: str | None = None
    json: bool = False
    quiet: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def config(self) -> Path:
        """Return the path of the profile file."""
        return profiles.config_path(self.environment)

    @property
    def acting_as(self) -> str:
        """Return the user name from `--as` or VALKYR_AS, or ""."""
        return self.user or self.environment.get("VALKYR_AS", "")


@dataclass(frozen=True)
class Target:
    """An installation: its address without `/v1`, and an API token or ""."""

    url: str
    token: str


def target(choices: Choices) -> Target:
    """Return the chosen installation. Raises CliError if the choice is missing or invalid.

    The command line overrides the environment, and both override the default profile. A profile's
    token is only sent to that profile's address.
    """
    environment = choices.environment
    file = profiles.load(choices.config)
    from_environment = choices.profile is None
    name = choices.profile or environment.get("VALKYR_PROFILE") or file.default
    profile = file.profiles.get(name)
    if profile is None and (choices.profile or environment.get("VALKYR_PROFILE")):
        known = ", ".join(sorted(file.profiles)) or "none"
        raise usage(
            f"There is no profile {name!r} in {choices.config}; known: {known}.",
            f"Create it: valkyr login --profile {name}",
        )
    url = choices.url or (from_environment and environment.get("VALKYR_URL")) or ""
    token = choices.token or (from_environment and environment.get("VALKYR_TOKEN")) or ""
    if profile is not None:
        url = url or profile.url
        token = token or (profile.token if clean(url) == clean(profile.url) else "")
    if not url:
        raise usage(
            "No installation is selected.",
            "Run `valkyr login`, set --url or VALKYR_URL, or use --local in a Django project.",
        )
    return Target(clean(url), token)


def clean(url: str) -> str:
    """Return the address without a trailing slash or `/v1`. Raises CliError if it is invalid."""
    if not url.startswith(("http://", "https://")):
        raise usage(
            f"{url!r} is not a valid address.", "Expected one such as https://valkyr.example.com"
        )
    return url.rstrip("/").removesuffix("/v1")


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value not in (None, False) and parameter.name:
        setattr(context.ensure_object(Choices), parameter.name, value)


def _option(*names: str, **more: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_keep, **more)


def output_options() -> list[click.Option]:
    """Return the options for the output format."""
    return [
        _option("--json", is_flag=True, help="Print JSON."),
        _option("-q", "--quiet", is_flag=True, help="Print ids and results only."),
    ]


def shared_options() -> list[click.Option]:
    """Return the options that select the installation and the output format."""
    return [
        _option("--url", metavar="URL", help="The installation's address. [env: VALKYR_URL]"),
        _option("--token", metavar="TOKEN", help="An API token. [env: VALKYR_TOKEN]"),
        _option(
            "--profile",
            metavar="NAME",
            help="A profile from your profile file. [env: VALKYR_PROFILE]",
        ),
        _option("--local", is_flag=True, help="Use this Django project, without a server."),
        _option(
            *("--as", "user"),
            metavar="USER",
            help="With --local: act as this user. [env: VALKYR_AS]",
        ),
        _option(
            "--settings",
            metavar="MODULE",
            help=(
                "With --local: the settings module; default: DJANGO_SETTINGS_MODULE, or that of "
                "manage.py."
            ),
        ),
        *output_options(),
    ]


class ApiCommand(click.Command):
    """A command that calls an installation, with the shared options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options()


class PlainCommand(click.Command):
    """A command that selects no installation; it has only the options for the output format."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += output_options()
