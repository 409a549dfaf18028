"""The input of commands: JSON inline, in a file or on standard input, and workflows by name."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from valkyr.cli.errors import CliError, Exit, usage

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient

AGE = re.compile(r"(\d+)([smhd])\Z")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class JsonParameter(click.ParamType):  # type: ignore[type-arg] # older clicks have no argument
    """Accepts inline JSON, `@FILE` (which may be YAML), or `-` for standard input."""

    name = "JSON|@FILE|-"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the parsed JSON value."""
        if not isinstance(value, str):
            return value
        try:
            if value in {"-", "@-"}:
                return json.loads(sys.stdin.read())
            if value.startswith("@"):
                return _read(Path(value[1:]))
            return json.loads(value)
        except OSError as error:
            self.fail(f"{value[1:]} cannot be read: {error.strerror}.", param, ctx)
        except ValueError as error:
            self.fail(f"{value!r} is not valid JSON: {error}. Use @FILE for a file.", param, ctx)


class SinceParameter(click.ParamType):  # type: ignore[type-arg] # older clicks have no argument
    """Accepts a time in RFC 3339, or an age such as 30m, 2h or 7d."""

    name = "AGE|TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the time in RFC 3339."""
        if found := AGE.match(value):
            age = timedelta(**{UNITS[found[2]]: int(found[1])})
            return (datetime.now(UTC) - age).isoformat()
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is neither an age such as 2h nor a time.", param, ctx)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix in {".yaml", ".yml"}:
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from None
    return json.loads(text)


def is_id(text: str) -> bool:
    """Return whether the text is a UUID, and therefore not a name."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def workflow_id(api: "ApiClient", name: str, workspace: str | None = None) -> str:
    """Return the ID of the workflow with this slug or name; an ID is returned unchecked.

    Raises CliError unless exactly one workflow matches.
    """
    if is_id(name):
        return name
    place: dict[str, Any] = {}
    if workspace:
        place["workspaceId"] = workspace_id(api, workspace)
    found = list(api.rows("/v1/Workflow", slug=name, **place)) if len(name) <= 80 else []
    if not found:
        rows = api.rows("/v1/Workflow", name=name, **place)
        found = [row for row in rows if row["name"] == name]
    if not found:
        raise CliError(
            f"There is no workflow {name!r} in your workspaces.",
            Exit.NOT_FOUND,
            hint="`valkyr workflows` lists those that you may see.",
        )
    if len(found) > 1:
        ids = ", ".join(row["id"] for row in found)
        raise usage(f"There are {len(found)} workflows {name!r}: {ids}.", "Give the id of one.")
    return str(found[0]["id"])


def workspace_id(api: "ApiClient", name: str) -> str:
    """Return the ID of the workspace with this slug or name; an ID is returned unchecked.

    Raises CliError unless exactly one of the caller's workspaces has the slug or name.
    """
    if is_id(name):
        return name
    known = api.get("/v1/Me")["workspaces"]
    found = [row for row in known if name in {row["slug"], row["name"]}]
    if len(found) != 1:
        slugs = ", ".join(row["slug"] for row in known) or "none"
        raise CliError(f"You are in no workspace {name!r}; yours: {slugs}.", Exit.NOT_FOUND)
    return str(found[0]["id"])


class LabelParameter(click.ParamType):  # type: ignore[type-arg] # older clicks have no argument
    """Accepts a label that selects rows, as `name:value`; users can repeat the option."""

    name = "NAME:VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return the label's name and value."""
        if isinstance(value, tuple):
            return value
        name, colon, text = value.partition(":")
        if not (name and colon and text):
            self.fail(f"{value!r} is not a label; expected NAME:VALUE, such as order:4711.")
        return name, text


def label_query(labels: tuple[tuple[str, str], ...]) -> str | None:
    """Return the value of the query parameter `label`; None if there are no labels."""
    return json.dumps(dict(labels)) if labels else None
