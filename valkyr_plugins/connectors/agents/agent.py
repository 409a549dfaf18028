"""`llm.agent`: its inputs, outputs and module. `expansion` writes the loop that the engine runs."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from executions.public.definitions import Catalog, ConfigProblem
from executions.public.schemas import DEFINITION
from runners.public.modules import Bad, ExpandingContainer, ModuleOutputs, StepError
from valkyr_plugins.connectors.agents.expansion import expanded
from valkyr_plugins.connectors.agents.tool_call import MAX_RESULT, OfferedTool, Toolset
from valkyr_plugins.connectors.agents.tool_rules import config_problems, tool_problems
from valkyr_plugins.connectors.agents.turn import MAX_TURNS
from valkyr_plugins.connectors.ai.conversation import Message, UsedTokens
from valkyr_plugins.connectors.ai.provider import ProviderInputs
from valkyr_plugins.connectors.data.validate import require_schema

# The fields of the last turn's output that an agent's output contains.
RESULT = ("text", "output", "turns", "toolCalls", "usage", "cost", "messages")


class AgentInputs(ProviderInputs):
    """The task, the model, the tools and the limits."""

    prompt: str | list[Message] = Field(
        description="The instruction: a text, or the conversation so far.",
        examples=["Answer the customer: {{ input.question }}"],
    )
    system: str = Field(
        "",
        description="The system prompt: instructions before the conversation.",
        examples=["You work for a shop. Look orders up before you answer."],
    )
    tools: list[OfferedTool] = Field(
        default_factory=list,
        max_length=100,
        description="The tools, as the model sees them. Each tool runs as a task of the body.",
        examples=[
            [
                {
                    "name": "find_order",
                    "description": "Finds an order by its number.",
                    "parameters": {
                        "type": "object",
                        "required": ["number"],
                        "properties": {"number": {"type": "string"}},
                    },
                }
            ]
        ],
    )
    toolsets: list[Toolset] = Field(
        default_factory=list,
        max_length=20,
        description="Tools that the workflow lists while it runs, such as an MCP server's tools.",
        examples=[[{"task": "shop", "tools": "{{ tasks.list.output.tools }}"}]],
    )
    approve: list[str] = Field(
        default_factory=list,
        max_length=100,
        description="Tasks of the body that run only after a person has approved the call.",
        examples=[["refund"]],
    )
    approvers: list[str] = Field(
        default_factory=list,
        max_length=100,
        description="The users or roles that may approve, as in `flow.approval`.",
        examples=[["ADMIN"]],
    )
    approval_seconds: float | None = Field(
        None,
        gt=0,
        description="Seconds to wait for an approver's decision. If no decision is made in time, "
        "the tool does not run.",
        examples=[86_400],
    )
    on_tool_error: Literal["model", "fail"] = Field(
        "model",
        description=(
            "What happens if a tool still fails after its retries. `model`: the model gets the "
            "error as the result. `fail`: the tool's run becomes a dead letter, and the agent "
            "continues after a successful requeue."
        ),
    )
    output_schema: dict[str, Any] | None = Field(
        None,
        description="A JSON Schema for the last answer. The answer becomes `output`.",
        examples=[{"type": "object", "properties": {"refunded": {"type": "boolean"}}}],
    )
    max_turns: int = Field(
        MAX_TURNS, ge=1, le=1_000, description="Maximum number of answers from the model."
    )
    max_cost: float | None = Field(
        None,
        gt=0,
        description=(
            "The maximum cost of the model's answers, in the price list's currency. An unfinished "
            "agent fails after the turn that reaches this limit. The limit does not apply to "
            "models without a price."
        ),
        examples=[0.5],
    )
    max_result_characters: int = Field(
        MAX_RESULT,
        ge=100,
        le=1_000_000,
        description="A tool result with more characters than this is cut off.",
    )
    max_concurrency: int = Field(
        4,
        ge=1,
        le=100,
        description="How many tool calls of one answer can run at the same time.",
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="The sampling temperature; by default the model's."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="The maximum number of tokens in one answer."
    )
    seed: int | None = Field(
        None, description="A seed that makes answers as reproducible as the provider allows."
    )

    @field_validator("output_schema")
    @classmethod
    def _schema_is_one(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            require_schema(schema, DEFINITION)
        return schema


class AgentOutputs(ModuleOutputs):
    """The agent's answer, conversation and cost; its numbers of turns, tool calls and tokens."""

    text: str = Field(description="The last answer.")
    output: Any = Field(description="The last answer as data, if there is an `outputSchema`.")
    turns: int = Field(description="The number of answers that the model gave.")
    tool_calls: int = Field(description="The number of tool calls.")
    usage: UsedTokens = Field(description="The tokens of all answers.")
    cost: float | None = Field(
        description="The cost of all answers, by the price list; null if the model has no price."
    )
    messages: list[Any] = Field(description="The conversation after the prompt.")


class LlmAgent(ExpandingContainer):
    """Lets a language model work with tools until it has an answer.

    Each task of the body is a tool: a module, a chain of modules or a sub-workflow. A task with
    `mcp.call` can run all tools of an MCP server. A tool reads the model's arguments from
    `item.arguments`. When you publish the workflow, Valkyr adds a loop around the tools. In the
    loop, an `llm.chat` step calls the model, the requested tools run, and their results go back to
    the model. Each answer and each tool call has its own runs, to which retries, budgets and
    circuits apply. A failed answer becomes a dead letter; a failed tool call becomes one only with
    `onToolError: fail`. After a crash, the agent continues from the last recorded run, and does not
    request a recorded answer again. The task's `credential`, `retry`, `timeoutSeconds`,
    `circuitWaitSeconds` and `queue` apply to the steps that call the model.
    """

    type = "llm.agent"
    title = "Agent"
    category = "language models"
    Inputs = AgentInputs
    Outputs: ClassVar[Any] = AgentOutputs
    container = "loop"
    body_kind = "map"
    deferred = ("until",)
    credential = ("bearer",)
    judges_hosts = "everything"
    addresses = ("baseUrl",)
    example: ClassVar[Mapping[str, Any]] = {
        "model": "gpt-4o-mini",
        "system": "You work for a shop. Look orders up before you answer.",
        "prompt": "Answer the customer: {{ input.question }}",
        "tools": [{"name": "find_order", "description": "Finds an order by its number.",
                   "parameters": {"type": "object", "required": ["number"],
                                  "properties": {"number": {"type": "string"}}}}],
        "maxTurns": 10,
    }  # fmt: skip
    bad_inputs = (
        Bad("no prompt", {"model": "m"}, "prompt"),
        Bad("no turns", {"model": "m", "prompt": "p", "maxTurns": 0}, "maxTurns"),
        Bad(
            "a schema that is not one",
            {"model": "m", "prompt": "p", "outputSchema": {"type": "text"}},
            "not a JSON Schema, at type",
        ),
        Bad(
            "a tool's name with a space",
            {"model": "m", "prompt": "p", "tools": [{"name": "find order"}]},
            "name",
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return list(config_problems(config))

    def task_problems(self, task: Mapping[str, Any]) -> list[ConfigProblem]:
        return list(tool_problems(task))

    def expand(self, task: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
        return expanded(task, catalog)

    def collected(self, inputs: Mapping[str, Any], turns: int, last: Any) -> Any:
        # A user may have fixed the dead letter of the last turn with any result.
        found = last[inputs["resultOf"]]
        if not isinstance(found, Mapping):
            raise StepError(
                f"the agent's last turn has no result: fix the dead letter of its step "
                f"{inputs['resultOf']} with an object that has `done` and `text`"
            )
        return {key: found.get(key) for key in RESULT}
