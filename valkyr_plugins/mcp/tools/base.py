"""A tool of the MCP server: its name, its arguments, and the function that answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from executions.public.access import UNATTENDED, limits_of
from valkyr_plugins.mcp.in_process import ApiAnswer, InProcessApi

MOST_ROWS = 50


class ToolArguments(BaseModel):
    """The arguments of a tool, in camelCase as in the API; unknown arguments are rejected."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")


class NoArguments(ToolArguments):
    """The arguments of a tool that has none."""


class PagedArguments(ToolArguments):
    """The arguments of each tool that returns a page of a list."""

    limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="Rows of this page.")] = 20
    cursor: Annotated[str | None, Field(description="nextCursor of the previous page.")] = None


WorkspaceArgument = Annotated[
    UUID | None, Field(description="Optional if you have only one workspace.")
]


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """The caller of a tool, with an API that has the caller's permissions."""

    api: InProcessApi

    @property
    def unattended(self) -> bool:
        """Return whether writes need no approval, because the token has the scope `unattended`."""
        limits = limits_of(self.api.user)
        return limits is not None and UNATTENDED in limits.scopes


Run = Callable[[ToolCaller, Any], Any]


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One tool. It is offered if the installation has `route`; a plugin may be missing.

    Tools with `writes` propose a change; for a token with the scope `unattended`, they apply it.
    Some changes of `destructive` tools cannot be undone. Tools with `stores` store their results,
    but change nothing else. Results of `untrusted` tools can contain values from other systems.
    """

    name: str
    title: str
    description: str
    arguments: type[ToolArguments]
    run: Run
    route: str
    writes: bool = False
    destructive: bool = False
    stores: bool = False
    untrusted: bool = False
    named: tuple[str, ...] = ()

    def offered(self, api: InProcessApi) -> bool:
        """Return whether the installation has the operation that the tool calls."""
        nothing = "00000000-0000-0000-0000-000000000000"
        return api.has(self.route, **dict.fromkeys(self.named, nothing))


def listed(answer: ApiAnswer) -> dict[str, Any]:
    """Return a page of a list, with the cursor of the next page."""
    return {"rows": answer.data, "nextCursor": answer.cursor or None}


def query_of(arguments: ToolArguments) -> dict[str, Any]:
    """Return arguments as query parameters of an API list, which have the same names."""
    return arguments.model_dump(by_alias=True, exclude_none=True, mode="json")
