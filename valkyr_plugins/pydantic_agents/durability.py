"""The durable-execution interface of Pydantic AI, for agents that run inside Valkyr's steps.

In a step, run the agent inside `durable`:

    agent = Agent("openai:gpt-5", name="clerk", capabilities=[ValkyrDurability()])

    @step(timeout_seconds=600, queue="io")
    def answer(ctx: StepContext, question: str) -> str:
        with durable(ctx):
            return agent.run_sync(question).output
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    DurableOperationBackend,
    DurableOperationId,
    JournalCallableOperationBackend,
    ModelRequestId,
    RoleBasedOperationConfig,
    conversation_id_from_run_id,
    record_durable_unit,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import AgentDepsT

from runners.public.modules import StepContext
from valkyr_plugins.connectors.ai import costs
from valkyr_plugins.connectors.ai.answers import Details, Usage
from valkyr_plugins.pydantic_agents.journal import Journal, current


class _Backend(JournalCallableOperationBackend[None]):
    """Records each operation of an agent as one call of the step in which the agent runs."""

    async def execute(
        self,
        *,
        operation_id: DurableOperationId,
        name: str,
        body: Callable[[], Awaitable[object]],
        cache_key: tuple[object, ...],
        config: None,
    ) -> object:
        journal = current()
        if journal is None:  # outside of a step, this is an ordinary agent
            return await body()
        spent = None
        if isinstance(operation_id, ModelRequestId):
            spent = partial(_report, journal.ctx)
        value, made = await journal.unit(name, body, spent)
        record_durable_unit(executed=made)
        return value


def _report(ctx: StepContext, response: Any) -> None:
    """Report the tokens of a model's recorded response, and their cost from the price list."""
    while isinstance(response, Mapping) and "usage" not in response and "response" in response:
        response = response["response"]
    if not isinstance(response, Mapping):
        return
    used = response.get("usage") or {}
    tokens = Usage(
        prompt_tokens=used.get("input_tokens"),
        completion_tokens=used.get("output_tokens"),
        prompt_tokens_details=Details(cached_tokens=used.get("cache_read_tokens")),
    )
    costs.record(str(response.get("model_name") or ""), tokens, ctx)


@dataclass(init=False, kw_only=True)
class ValkyrDurability(BaseDurabilityCapability[AgentDepsT]):
    """A capability that records an agent's model, tool and MCP calls inside a step.

    In a step, run the agent inside `durable(ctx)`. After a crash, or in the step's next attempt,
    the recorded calls return their results, and the agent continues from there. Toolsets need an
    `id`. Outside `durable`, the agent works as usual.
    """

    engine_spec = DurabilityEngineSpec(
        engine_name="Valkyr",
        durable_unit_noun="recorded call",
        durable_container_noun="step",
        codec=JSON_CODEC,
        unsupported_runtime_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        wrapped_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        toolset_lifecycles={
            "function": "enter-always",
            "mcp": "enter-in-durable-unit",
            "dynamic": "enter-never",
        },
        # Tools run one after another, so that calls have the same numbers in each attempt.
        sequential_tools_in_durable_context=True,
    )

    def __init__(
        self, *, models: Mapping[str, Model] | None = None, name: str | None = None
    ) -> None:
        """Create the capability.

        `models` are additional models, keyed by name; `name` is the agent's name.
        """
        super().__init__(models=models, name=name)

    @property
    def in_durable_context(self) -> bool:
        """Return whether the agent runs inside `durable`."""
        return current() is not None

    def get_default_run_id(self) -> str | None:
        """Return the ID of the agent's run, the same in each attempt; None outside `durable`."""
        journal = current()
        return None if journal is None else journal.next_run()

    def get_default_conversation_id(self, run_id: str) -> str | None:
        """Return the ID of a new conversation, the same in each attempt; None outside `durable`."""
        return conversation_id_from_run_id(run_id) if self.in_durable_context else None

    async def get_run_start_time(self, run_id: str) -> datetime | None:
        """Return when the agent's run first began; None outside `durable`."""
        journal: Journal | None = current()
        if journal is None:
            return None
        value, _ = await journal.unit(f"{self.name}__run_start_time", _now)
        return datetime.fromisoformat(value)

    def get_durable_operation_backend(self) -> DurableOperationBackend[Any]:
        """Return the backend that records calls."""
        config = RoleBasedOperationConfig[None](model=None, event=None, capability=None, tool=None)
        return _Backend(agent_name=self.name, config=config)


async def _now() -> str:
    return datetime.now(UTC).isoformat()
