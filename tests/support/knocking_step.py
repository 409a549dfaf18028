"""`test.knocker`: a step whose only effect is repeated calls to a partner.

Its first holder calls for a long time; the worker that takes it over calls only for a moment. It
needs no database.
"""

import json
import os
import time
from contextlib import closing
from http.client import HTTPConnection
from typing import ClassVar
from urllib.parse import urlsplit

from runners.modules.base import Module, ModuleInputs, Result, StepContext
from runners.segment.step_context import StepTimeout


class KnockerInputs(ModuleInputs):
    """The address to call, and how the run's first holder behaves when it must end."""

    url: str
    seconds: float
    heeds: bool = False  # check whether the step is cancelled
    stubborn: bool = False  # swallow the exception that should end it


class Knocker(Module[KnockerInputs]):
    """Tells a partner every 20 ms which process leases the run; returns the lease token."""

    type: ClassVar[str] = "test.knocker"
    title: ClassVar[str] = "Knocker"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "external"
    Inputs = KnockerInputs

    def execute(self, inputs: KnockerInputs, ctx: StepContext) -> Result:
        from tests.support.modules import held

        run, token = held(ctx)
        told = json.dumps({"run": str(run), "token": token, "pid": os.getpid()})
        until = time.monotonic() + (inputs.seconds if token == 1 else 0.2)
        with closing(HTTPConnection(urlsplit(inputs.url).netloc, timeout=5)) as client:
            while time.monotonic() < until:
                try:
                    client.request("POST", "/knock", told)
                    client.getresponse().read()
                    if inputs.heeds and ctx.cancelled():
                        return Result("cut short")
                    time.sleep(0.02)
                except StepTimeout:
                    if not inputs.stubborn:
                        raise
        return Result(token)
