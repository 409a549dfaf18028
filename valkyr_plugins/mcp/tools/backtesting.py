"""The tool that compares a definition with the records of past executions."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from valkyr_plugins.mcp.in_process import ApiRefused
from valkyr_plugins.mcp.tools.base import AgentTool, ToolArguments, ToolCaller
from valkyr_plugins.mcp.tools.reading import Definition

NAME = "backtest_definition"
ENDED = frozenset({"DONE", "CANCELLED", "FAILED"})
SHOWN = ("id", "workflowId", "version", "state", "error", "total", "done", "counts")
OF_A_GROUP = ("text", "stepPath", "verdict", "reason", "count")
EXAMPLES = 3


class BacktestArguments(ToolArguments):
    """A backtest to start, or one to read."""

    workflow_id: Annotated[
        UUID | None, Field(description="Starts a backtest of this workflow's draft.")
    ] = None
    definition: Annotated[
        Definition | None, Field(description="Compared in place of the draft.")
    ] = None
    version: Annotated[
        int | None, Field(ge=1, description="A published version to compare instead.")
    ] = None
    last: Annotated[
        int | None, Field(ge=1, le=10_000, description="Newest executions; 100 by default.")
    ] = None
    states: Annotated[
        list[Literal["SUCCESS", "FAILED", "TIMEOUT", "CANCELLED"]] | None,
        Field(description="Only executions that ended in these states."),
    ] = None
    backtest_id: Annotated[
        UUID | None, Field(description="Reads this backtest; give nothing else.")
    ] = None


def _backtest(caller: ToolCaller, given: BacktestArguments) -> dict[str, Any]:
    body = given.model_dump(by_alias=True, exclude_none=True, mode="json")
    workflow_id, backtest_id = body.pop("workflowId", None), body.pop("backtestId", None)
    if (workflow_id is None) == (backtest_id is None) or (backtest_id and body):
        detail = "Give workflowId, with what to compare, or backtestId alone."
        raise ApiRefused(422, {"detail": detail})
    if backtest_id is not None:
        return _shown(caller.api.get("backtest", id=backtest_id).data)
    # Allowed to write, because it writes only the backtest and the API requires the scope `author`.
    started = caller.api.writing().call("POST", "workflow-backtest", body, id=workflow_id)
    return _shown(started.data)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    found = {name: row[name] for name in SHOWN}
    found["groups"] = [
        {name: group[name] for name in OF_A_GROUP} | {"executions": group["executions"][:EXAMPLES]}
        for group in row["groups"]
    ]
    if row["state"] not in ENDED:
        found["next"] = f"Workers compare the executions. Call {NAME} with backtestId to follow."
    return found


TOOLS = (
    AgentTool(
        name=NAME,
        title="Backtest a definition",
        description=(
            "Compares a draft, a version or another definition with the records of past "
            "executions: which steps would be called with other inputs, which paths and outputs "
            "would differ. Runs no step with an effect and changes no execution. Starting one "
            "needs the scope author; call it again with backtestId until state is DONE."
        ),
        arguments=BacktestArguments,
        run=_backtest,
        route="workflow-backtest",
        stores=True,
        untrusted=True,
        named=("id",),
    ),
)
