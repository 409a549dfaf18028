"""The errors of the command: an exit code for scripts, and a message that says what to do."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import click

# The code of a 404 for an address that the API does not have; a missing row has another code.
UNKNOWN_ADDRESS = "unknown_address"


class Exit(IntEnum):
    """The exit codes; docs/reference/cli.md lists them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    DENIED = 4
    NOT_FOUND = 5
    CONFLICT = 6
    INVALID = 7
    LIMITED = 8
    TIMED_OUT = 9
    NOT_INSTALLED = 10
    INTERRUPTED = 130


STATUSES = {
    400: Exit.INVALID,
    401: Exit.DENIED,
    403: Exit.DENIED,
    404: Exit.NOT_FOUND,
    405: Exit.NOT_FOUND,
    409: Exit.CONFLICT,
    410: Exit.CONFLICT,
    412: Exit.CONFLICT,
    413: Exit.INVALID,
    415: Exit.INVALID,
    422: Exit.INVALID,
    429: Exit.LIMITED,
}


class CliError(click.ClickException):
    """An error that ends the command: a message, an exit code and, if useful, what to do."""

    def __init__(
        self,
        message: str,
        code: Exit = Exit.FAILED,
        *,
        hint: str = "",
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        """Set the message and the code; `problem` is the API's problem document, or None."""
        super().__init__(message)
        self.code, self.hint, self.problem = code, hint, dict(problem or {})

    @property
    def status(self) -> int | None:
        """Return the HTTP status if the API rejected the request; otherwise None."""
        return self.problem.get("status")

    @property
    def problems(self) -> Sequence[Mapping[str, Any]]:
        """Return the errors of invalid fields, each with the path of its field."""
        found: Sequence[Mapping[str, Any]] = self.problem.get("errors") or []
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the error for `--json`."""
        name = self.problem.get("code") or self.code.name.lower()
        told: dict[str, Any] = {"code": name, "message": self.message, "exitCode": self.code}
        told |= {"hint": self.hint} if self.hint else {}
        told |= {"status": self.status} if self.status else {}
        return told | ({"errors": self.problems} if self.problems else {})


def usage(message: str, hint: str = "") -> CliError:
    """Return the error for an invalid command line, variable or file."""
    return CliError(message, Exit.USAGE, hint=hint)


def missing_package(name: str | None, extra: str, what: str) -> CliError:
    """Return the error for a missing optional package; `what` needs it, and `extra` installs it."""
    return CliError(
        f"{what} needs the package {name}, which is not installed.",
        Exit.NOT_INSTALLED,
        hint=f'Install it: pip install "valkyr[{extra}]"',
    )


def refused(status: int, problem: Mapping[str, Any], *, token: bool, again: str = "") -> CliError:
    """Return the error for an unsuccessful API response; `again` is the response's Retry-After."""
    hint = ""
    if status == 401:
        hint = (
            "The token is wrong, expired or revoked. Run `valkyr login` for a new one."
            if token
            else "No token was sent. Run `valkyr login`, or set VALKYR_TOKEN."
        )
    elif status == 403:
        hint = "`valkyr whoami` shows your role in each workspace."
    elif status == 404:
        hint = "Check the id; `valkyr whoami` shows your workspaces."
    elif again.isdecimal():
        hint = f"Try again in {again} s."
    elif status >= 500:
        hint = "See the server's log. Try again in a moment."
    message = str(problem.get("detail") or problem.get("title") or f"HTTP status {status}")
    code = Exit.UNREACHABLE if status >= 500 else STATUSES.get(status, Exit.FAILED)
    return CliError(message, code, hint=hint, problem={"status": status, **problem})
