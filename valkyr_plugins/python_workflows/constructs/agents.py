"""Agents: language models that work with tools. A tool is a step or a function that calls a step.

By default, a tool's parameters become the JSON Schema that the model sees. While the workflow is
traced, the tool is called once, with handles in place of the model's arguments.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, cast

from pydantic import BaseModel, TypeAdapter
from pydantic.alias_generators import to_camel
from typing_extensions import TypeVar

from runners.public.modules import StepFunction
from valkyr_plugins.python_workflows.inputs import WorkflowInput, plain_schema
from valkyr_plugins.python_workflows.tracing.graph import Block, TracedScope
from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle
from valkyr_plugins.python_workflows.tracing.options import CallOptions, Span, listed, seconds
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, output_of, tracing

T = TypeVar("T", default=Any)


class AgentAnswer(BaseModel, Generic[T], alias_generator=to_camel):
    """An agent's last answer, its numbers of turns and tool calls, and its costs."""

    text: str
    output: T
    turns: int
    tool_calls: int
    usage: Any
    cost: float | None
    messages: list[Any]


@dataclass(frozen=True, slots=True)
class TracedTool:
    """A tool of an agent, as `tool` returns it."""

    body: Callable[..., Any]
    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    listed: Any = None
    approve: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def tool(
    body: Callable[..., Any],
    *,
    name: str = "",
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    listed: object = None,
    approve: bool = False,
    **options: Any,
) -> TracedTool:
    """Return a step, or a function that calls one step, as a tool of an agent.

    By default, the name and the description are the function's name and docstring. The model sees
    the function's parameters. With `parameters`, a JSON Schema, the function receives the call with
    its `name` and `arguments`. `listed` are tools that are known only while the workflow runs, such
    as an MCP server's tools; the function then receives the calls of all of them. With `approve`, a
    person must approve each call. `options` are the options of the step, if `body` is a step.
    """
    function = body.function if isinstance(body, StepFunction) else body
    if options and not isinstance(body, StepFunction):
        raise TracingError("only a step as a tool takes options; pass them in the function")
    return TracedTool(
        body,
        name or getattr(function, "__name__", "").strip("<>"),
        description or inspect.getdoc(function) or "",
        parameters,
        listed,
        approve,
        options,
    )


def agent(  # noqa: PLR0913 - the inputs of llm.agent by their names
    prompt: object,
    *,
    model: object,
    tools: Iterable[Callable[..., Any] | TracedTool] = (),
    system: object = None,
    output: type[T] | Mapping[str, Any] | None = None,
    approvers: object = None,
    approval_within: Span | None = None,
    on_tool_error: Literal["model", "fail"] | None = None,
    max_turns: object = None,
    max_cost: object = None,
    max_result_characters: object = None,
    max_concurrency: int | None = None,
    temperature: object = None,
    max_tokens: object = None,
    seed: object = None,
    base_url: object = None,
    answer_timeout: Span | None = None,
    **options: Any,
) -> AgentAnswer[T]:
    """Let a language model work with tools until it has an answer; return the answer.

    `tools` are steps, functions that call one step, and results of `tool`. `output` is the type or
    the JSON Schema of the answer's data, which `answer.output` contains. `approvers` may approve
    calls of tools that have `approve=True`; `approval_within` limits the wait for an approval.
    `answer_timeout` is the maximum time for each answer of the model. The other arguments are
    inputs of the module `llm.agent`.
    """
    trace, given = tracing(), CallOptions.of(options)
    task = trace.reserve(given, "agent")
    # Inside the agent, `loop` refers to its own turns, and `item` to a call of a tool.
    turns = TracedScope("loop", around=trace.scope)
    calls = TracedScope("map", around=turns)
    config: dict[str, Any] = {
        "model": model,
        "baseUrl": base_url,
        "system": system,
        "prompt": prompt,
        **_traced_tools(trace, calls, tools),
        "approvers": None if approvers is None else cast("Any", listed)(approvers),
        "approvalSeconds": seconds(approval_within),
        "onToolError": on_tool_error,
        "outputSchema": _schema(output),
        "maxTurns": max_turns,
        "maxCost": max_cost,
        "maxResultCharacters": max_result_characters,
        "maxConcurrency": max_concurrency,
        "temperature": temperature,
        "maxTokens": max_tokens,
        "seed": seed,
        "timeoutSeconds": seconds(answer_timeout),
    }
    config = {key: value for key, value in config.items() if value is not None}
    # Templates of the agent cannot read the iteration of an enclosing loop. Templates that are
    # rendered for each call cannot read an enclosing `item` either.
    with trace.inside(Block(turns)):
        trace.read(config)
    with trace.inside(Block(calls)):
        trace.read([config.get("toolsets"), config.get("approvers")])
    shape = AgentAnswer[output] if isinstance(output, type) else AgentAnswer  # type: ignore[valid-type]
    trace.add("llm.agent", config, given, body=calls, task=task)
    return cast("AgentAnswer[T]", output_of(task, shape=shape))


def _traced_tools(
    trace: Trace, scope: TracedScope, tools: Iterable[Callable[..., Any] | TracedTool]
) -> dict[str, Any]:
    """Trace each tool into the scope; return the inputs that describe them. Raises TracingError."""
    found: dict[str, list[Any]] = {"tools": [], "toolsets": [], "approve": []}
    for given in tools:
        one = given if isinstance(given, TracedTool) else tool(given)
        if any(one.name == other["name"] for other in found["tools"]):
            raise TracingError(f"two tools have the name {one.name!r}; pass tool(…, name=…)")
        task_id = _traced_tool(trace, scope, one)
        if one.listed is not None:
            found["toolsets"].append({"task": task_id, "tools": one.listed})
        else:
            found["tools"].append(_described(one) | _unless(task_id, one.name))
        if one.approve:
            found["approve"].append(task_id)
    return {key: value or None for key, value in found.items()}


def _unless(task_id: str, name: str) -> dict[str, str]:
    return {} if task_id == name else {"task": task_id}


def _traced_tool(trace: Trace, scope: TracedScope, one: TracedTool) -> str:
    """Record the only step of a tool; return the task's id. Raises TracingError."""
    before = len(scope.tasks)
    call = ValueHandle(HandleFacts("item", within=frozenset({scope})))
    step = one.body.options(**one.options) if isinstance(one.body, StepFunction) else one.body
    with trace.inside(Block(scope)), trace.calling(one.name):
        if one.listed is not None or one.parameters is not None:
            step(call)
        else:
            step(**_arguments(one).handles("item.arguments", within=frozenset({scope})))
    made = scope.tasks[before:]
    if len(made) != 1 or made[0].edges:
        raise TracingError(
            f"the tool {one.name!r} must call one step, and found {len(made)}; use chain(), or put "
            "the steps into a workflow and call that with sub()"
        )
    return made[0].id


def _described(one: TracedTool) -> dict[str, Any]:
    """Return the part of a tool that the model sees: its name, description and parameters."""
    schema = one.parameters if one.parameters is not None else _arguments(one).schema()
    described = {"name": one.name, "description": one.description, "parameters": schema}
    return {key: value for key, value in described.items() if value}


def _arguments(one: TracedTool) -> WorkflowInput:
    if isinstance(one.body, StepFunction):
        return WorkflowInput(one.body.function, None, one.name, signature=one.body.parameters())
    return WorkflowInput(one.body, None, one.name)


def _schema(output: Any) -> Any:
    if output is None or isinstance(output, Mapping):
        return output
    return plain_schema(TypeAdapter(output).json_schema(by_alias=True, mode="validation"))
