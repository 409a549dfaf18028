"""A module that reveals its inputs in every way that a module has."""

import base64
import logging
import threading
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from pydantic import Field

from runners.modules import registry
from runners.modules.base import Module, ModuleInputs, Result, StepContext, StepError, Wait
from runners.states import ErrorType, WaitKind

# Inputs and credentials of steps in this process, in order.
heard: list[tuple[Any, Any]] = []
_log = logging.getLogger("gossip")


class GossipInputs(ModuleInputs):
    """The values to reveal, and the ways to reveal them."""

    value: Any = Field(None, description="What is told.")
    ways: list[str] = Field([], description="log, tell, raise, cause, again, wait, key.")


class Gossip(Module[GossipInputs]):
    """Reveals its inputs and its credential in its output, and in other ways as configured."""

    type: ClassVar[str] = "test.gossip"
    title: ClassVar[str] = "Gossip"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "idempotent"
    credential: ClassVar[tuple[str, ...]] = ("basic", "custom")
    waits: ClassVar[bool] = True
    Inputs = GossipInputs

    def execute(self, inputs: GossipInputs, ctx: StepContext) -> Result | Wait:
        heard.append((inputs.value, ctx.credential))
        text = f"{inputs.value} {ctx.credential}"
        if "log" in inputs.ways:
            _everywhere(text, ctx)
        if "tell" in inputs.ways:
            ctx.heartbeat({"seen": inputs.value})
        if "raise" in inputs.ways:
            raise RuntimeError(f"cannot use {text}")
        if "again" in inputs.ways:
            raise StepError(f"try again with {text}", ErrorType.TRANSIENT, details=[text])
        if "cause" in inputs.ways:
            raise StepError(f"refused {text}", details={"sent": text}) from ValueError(text)
        if "key" in inputs.ways:
            return Wait(WaitKind.EVENT, key=text)
        if "wait" in inputs.ways:
            return Wait(WaitKind.TIMER, seconds=0, facts={"value": inputs.value, text: 1})
        return told(text)

    def woken(self, inputs: GossipInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        heard.append((inputs.value, ctx.credential))
        return told(f"{inputs.value} {ctx.credential}")


def told(text: str) -> Result:
    """Return the text as it is and in other forms."""
    encoded = base64.b64encode(text.encode()).decode()
    return Result({"text": text, "quoted": quote(text), "encoded": encoded, text: [text]})


def _everywhere(text: str, ctx: StepContext) -> None:
    ctx.log.info(text, text=text)
    _log.warning("heard %s", text)
    print(text)
    try:
        raise ValueError(text)  # noqa: TRY301 - the traceback is what is looked at
    except ValueError:
        _log.exception("failed")
    thread = threading.Thread(target=_log.error, args=(text,))
    thread.start()
    thread.join()


def register() -> None:
    """Register the module in this process."""
    if "test.gossip" not in registry.specs():
        registry.add(Gossip())
