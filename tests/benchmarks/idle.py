"""The cost of an idle `make up`: memory (PSS) and CPU, by process.

PSS divides a page among the processes that share it, so the sum is the machine's use.
"""

import time
from dataclasses import dataclass

from tests.benchmarks.cast import Cast
from tests.benchmarks.options import Options
from tests.benchmarks.shipped.stack import ShippedStack, largest_first
from tests.benchmarks.talk import say

SETTLE = 20.0  # seconds after everything is ready
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Idle:
    """MiB (PSS) and per cent of one core, by process; children count with their parents."""

    memory: dict[str, float]
    cpu: dict[str, float]

    @property
    def total(self) -> float:
        """MiB of all processes."""
        return sum(self.memory.values())

    @property
    def burnt(self) -> float:
        """Per cent of one core of all processes."""
        return sum(self.cpu.values())


def measure(stage: Cast, options: Options) -> Idle:
    """Start a stack in a temporary folder, let it become idle, measure it, and stop it."""
    seconds = SECONDS if not options.quick else 10.0
    with ShippedStack(stage.folder / "idle", options.concurrency) as stack:
        time.sleep(SETTLE)
        found = _look(stack, seconds)
    say(f"idle: {found.total:,.0f} MiB, {found.burnt:.1f} % of a core")
    return found


def _look(stack: ShippedStack, seconds: float) -> Idle:
    before, began = stack.cpu(), time.monotonic()
    time.sleep(seconds)
    after, took = stack.cpu(), time.monotonic() - began
    cpu = {name: 100 * (used - before.get(name, 0.0)) / took for name, used in after.items()}
    return Idle(largest_first(stack.memory()), largest_first(cpu))
