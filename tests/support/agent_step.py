"""`test.pydantic_agent`: a Pydantic AI agent in a step, whose tool may kill its process.

Each call of its model and each call of its tool is first reported to a counting server.
"""

import json
import os
import signal
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, ClassVar
from urllib.parse import urlsplit

from runners.modules.base import Module, ModuleInputs, Result, StepContext, StepError
from runners.states import ErrorType


class PydanticAgentInputs(ModuleInputs):
    """The address of the counting server, and what happens at each call of the tool."""

    url: str
    calls: int
    kill: bool = False  # each call of the tool kills its process once
    fail: bool = False  # the step fails after the last answer, once


class PydanticAgentStep(Module[PydanticAgentInputs]):
    """Lets a model double numbers by a tool, one after another; returns the model's answer."""

    type: ClassVar[str] = "test.pydantic_agent"
    title: ClassVar[str] = "Agent of Pydantic AI"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "external"
    timeout_seconds: ClassVar[float] = 120.0
    Inputs = PydanticAgentInputs

    def execute(self, inputs: PydanticAgentInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.pydantic_agents import durable

        agent = _agent(inputs)
        with durable(ctx):
            found = agent.run_sync("Double the numbers.").output
        if inputs.fail and ctx.attempt == 1:
            raise StepError("the connection broke", ErrorType.TRANSIENT)
        return Result({"text": found})


def _agent(inputs: PydanticAgentInputs) -> Any:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_ai.usage import RequestUsage

    from valkyr_plugins.pydantic_agents.durability import ValkyrDurability

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        done = [part.content for part in parts if isinstance(part, ToolReturnPart)]
        _tell(inputs.url, f"model {len(done)}")
        said: Any = TextPart(json.dumps(done))
        if len(done) < inputs.calls:
            said = ToolCallPart("double", {"number": len(done)}, tool_call_id=f"c{len(done)}")
        return ModelResponse(parts=[said], usage=RequestUsage(input_tokens=7, output_tokens=3))

    def double(number: int) -> int:
        """Doubles a number."""
        before = _tell(inputs.url, f"tool {number}")
        if inputs.kill and before == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * number

    return Agent(
        FunctionModel(answer, model_name="scripted"),
        name="clerk",
        toolsets=[FunctionToolset([double], id="numbers")],
        capabilities=[ValkyrDurability()],
    )


def _tell(url: str, what: str) -> int:
    """Report a call to the server, and return how often it was reported before."""
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=5)) as client:
        client.request("POST", "/told", what)
        return int(client.getresponse().read())


MODULE = PydanticAgentStep()
