"""`llm.agent_turn`: ends a turn of an agent, and decides whether the agent has finished.

This module is pure.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.ai import costs
from valkyr_plugins.connectors.ai.answers import Details, Usage
from valkyr_plugins.connectors.ai.conversation import UsedTokens
from valkyr_plugins.connectors.ai.extract import answer_mistake

MAX_TURNS = 20
MAX_CORRECTIONS = 2


class AgentTurnInputs(ModuleInputs):
    """The model's answer, the results of the tools, and the output of the previous turn."""

    answer: dict[str, Any] = Field(
        description="The output of `llm.chat`.", examples=["{{ tasks.model.output }}"]
    )
    results: list[Any] | None = Field(
        None, description="The tool results, one for each of the answer's `toolCalls`."
    )
    previous: dict[str, Any] | None = Field(
        None, description="The output of this step in the previous turn; null in the first turn."
    )
    turn: int = Field(1, ge=1, description="The number of this turn, from 1.")
    model: str = Field("", description="The name of the requested model, to find its price.")
    max_turns: int = Field(
        MAX_TURNS, ge=1, le=1_000, description="Maximum number of answers from the model."
    )
    max_cost: float | None = Field(
        None, gt=0, description="The maximum cost of all turns, by the price list."
    )
    output_schema: dict[str, Any] | None = Field(
        None, description="The JSON Schema that the last answer must match."
    )


class AgentTurnOutputs(ModuleOutputs):
    """The state of the agent after the turn."""

    done: bool = Field(description="Whether the agent has finished.")
    text: str = Field(description="The text of the model's answer.")
    output: Any = Field(description="The answer as data, if there is an `outputSchema`.")
    messages: list[Any] = Field(description="The conversation after the prompt.")
    turns: int = Field(description="The number of answers that the model has given so far.")
    tool_calls: int = Field(description="The number of tool calls so far.")
    corrections: int = Field(description="The number of answers that did not match `outputSchema`.")
    max_turns: int = Field(
        description="The limit on turns. If you raised it in a dead letter, the raised limit also "
        "applies to later turns."
    )
    max_cost: float | None = Field(
        description="The limit on costs. If you raised it in a dead letter, the raised limit also "
        "applies to later turns."
    )
    usage: UsedTokens = Field(description="The tokens of all turns.")
    cost: float | None = Field(
        description="The cost of all turns, by the price list; null if the model has no price."
    )


class AgentTurn(Module[AgentTurnInputs]):
    """Ends an agent's turn: extends the conversation, and decides whether the agent has finished.

    The agent has finished if the model called no tool and its answer matches `outputSchema` (if
    set). An answer that does not match is returned to the model, at most twice; a third such answer
    fails the step. If an unfinished agent reaches `maxTurns` or `maxCost`, the step fails
    permanently. To let the agent continue, raise the limit in the step's dead letter and requeue
    it. The module `llm.agent` adds this step to its body. You can also use the step in your own
    loops.
    """

    type = "llm.agent_turn"
    title = "End an agent's turn"
    category = "language models"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = AgentTurnInputs
    Outputs: ClassVar[Any] = AgentTurnOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "answer": {"text": "The total is 12.", "finishReason": "stop", "toolCalls": []},
    }
    bad_inputs = (
        Bad("no answer", {"results": []}, "answer"),
        Bad(
            "an answer that was cut off",
            {"answer": {"text": "It is", "finishReason": "length"}},
            "raise maxTokens",
        ),
        Bad(
            "a model that refuses",
            {"answer": {"refusal": "I cannot help with that."}},
            "refuses to answer",
        ),
        Bad(
            "the last of the turns without an end",
            {"answer": {"toolCalls": [{"id": "1", "name": "a"}]}, "turn": 3, "maxTurns": 3},
            "maxTurns",
        ),
    )

    def execute(self, inputs: AgentTurnInputs, ctx: StepContext) -> Result:
        answer, before = inputs.answer, inputs.previous or {}
        calls = answer.get("toolCalls") or []
        text = str(answer.get("text") or "")
        said = {"role": "assistant", "content": text, "toolCalls": calls}
        if not calls:
            said.pop("toolCalls")
        messages = [*before.get("messages", []), *([said] if text or calls else [])]
        corrections = int(before.get("corrections", 0))
        output, mistake = None, ""
        if calls:
            messages += inputs.results or []
        else:
            _require_whole(answer, inputs.model)
            if inputs.output_schema is not None:
                output, mistake = answer_mistake(text, inputs.output_schema)
        if mistake:
            corrections += 1
            messages.append(_correction(mistake))
        usage = _usage(answer.get("usage") or {}, before.get("usage") or {})
        outputs = {
            "done": not calls and not mistake,
            "text": text,
            "output": output,
            "messages": messages,
            "turns": inputs.turn,
            "toolCalls": int(before.get("toolCalls", 0)) + len(calls),
            "corrections": corrections,
            "maxTurns": max(inputs.max_turns, int(before.get("maxTurns") or 0)),
            "maxCost": _raised(inputs.max_cost, before.get("maxCost")),
            "usage": usage,
            "cost": _cost(inputs.model, usage),
        }
        if not outputs["done"]:
            _require_room(outputs, mistake)
        return Result(outputs)


def _raised(given: float | None, before: float | None) -> float | None:
    return given if given is None or before is None else max(given, before)


def _require_whole(answer: Mapping[str, Any], model: str) -> None:
    if answer.get("refusal"):
        raise StepError(f"{model or 'the model'} refuses to answer: {answer['refusal'][:500]}")
    if answer.get("finishReason") == "length":
        raise StepError(
            f"{model or 'the model'}'s last answer was cut off: raise maxTokens, or request less"
        )


def _correction(mistake: str) -> dict[str, Any]:
    order = f"That is not right: {mistake}. Answer again, with only the corrected JSON."
    return {"role": "user", "content": order}


def _require_room(outputs: Mapping[str, Any], mistake: str) -> None:
    turns, cost, most = outputs["turns"], outputs["cost"], outputs["maxCost"]
    if mistake and outputs["corrections"] > MAX_CORRECTIONS:
        raise StepError(
            f"the agent's answer does not fit outputSchema after {MAX_CORRECTIONS} corrections: "
            f"{mistake}"[:2_000]
        )
    if turns >= outputs["maxTurns"]:
        raise StepError(
            f"the agent has not finished after {turns} turns, its maxTurns. Raise maxTurns "
            "in the inputs of this step and requeue it, or change the prompt or the tools",
            fingerprint="agent:max_turns",
        )
    if most is not None and cost is not None and cost >= most:
        raise StepError(
            f"the agent has cost {cost:.4g} after {turns} turns, its maxCost is "
            f"{most:.4g}. Raise maxCost in the inputs of this step and requeue it",
            fingerprint="agent:max_cost",
        )


def _usage(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    counts = ("inputTokens", "outputTokens", "cachedTokens")
    summed: dict[str, Any] = {
        name: int(now.get(name, 0)) + int(before.get(name, 0)) for name in counts
    }
    return summed | {"estimated": bool(now.get("estimated") or before.get("estimated"))}


def _cost(model: str, usage: Mapping[str, Any]) -> float | None:
    tokens = Usage(
        prompt_tokens=usage["inputTokens"],
        completion_tokens=usage["outputTokens"],
        prompt_tokens_details=Details(cached_tokens=usage["cachedTokens"]),
    )
    charged = costs.charge(model, tokens) if model else None
    return None if charged is None else float(round(charged.amount, 10))


def schema_order(schema: Mapping[str, Any]) -> str:
    """Return the instruction for a model to answer with JSON that fits the schema.

    Line breaks separate the braces of the JSON, because two adjacent braces begin a template.
    """
    text = json.dumps(schema, ensure_ascii=False, indent=1)
    return (
        "When you have finished, answer with one JSON value that fits this JSON Schema, and "
        f"nothing else:\n{text}"
    )
