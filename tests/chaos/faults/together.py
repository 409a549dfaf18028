"""Processes are killed inside transactions: processes that start executions, and processes that run
database steps.
"""

import json
import sys
from typing import Any

from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.running import output_of

FIGURES = (
    "kills", "transactions begun", "executions started with their order row",
    "rows written by steps", "steps taken over", "executions failed after three kills",
)  # fmt: skip
SECONDS_A_KILL = 0.5  # on a busy machine; a tenth of it on an idle one


def _run(world: World) -> None:
    found = _killed(world)
    met: dict[str, int] = found["killed while it"]
    for point, count in met.items():
        world.outcome.injected[f"kill -9 of a {point}"] += count
    for name in FIGURES:
        world.figure(name, found[name])
    assert not found["problems"], f"of {found['kills']:,} kills: {found['problems']}"
    assert found["steps taken over"], "no kill met a step under way, so nothing was tried"


def _killed(world: World) -> dict[str, Any]:
    program = [sys.executable, "-m", "tests.support.killed_transactions"]
    more = ["--kills", str(world.kills), "--seed", str(world.seed)]
    printed = output_of(
        [*program, *more],
        environment=world.fleet.environment,
        seconds=120 + SECONDS_A_KILL * world.kills,
    )
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


TOGETHER = Fault(
    "together",
    "`kill -9` of callers that start executions in transactions, and of workers that run database "
    "steps",
    "no start without its row, no row without its start, no row of a step lost or doubled",
    None,
    _run,
    load=Load(rate=0),
)
