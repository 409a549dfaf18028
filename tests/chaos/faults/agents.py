"""An agent's process is killed at each tool call, while its model counts the requests."""

from typing import Any

from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.counterparts.agent_model import AgentModel, calls
from tests.support.outages import marks_of
from tests.support.workflows import describe, effect, publish, start, task, wait_for_end

KILLS = 100


def _run(world: World) -> None:
    kills = 10 if world.quick else KILLS
    server = AgentModel(calls(*["double"] * kills))
    try:
        execution = start(publish({"tasks": [_agent(server, kills)]}))
        world.own([execution])
        ended = wait_for_end([execution], 60 + 3 * kills)
    finally:
        server.stop()
    assert ended == {execution: "SUCCESS"}, describe([execution])
    for turn in range(kills):
        killed, again = marks_of(execution, f"clerk[{turn}].calls[0].double.main")
        world.injected("kill -9 of a worker's child in an agent's tool", killed["pid"])
        world.recovered("tool called again", (again["at"] - killed["at"]).total_seconds())
    most = max(server.asked.values())
    assert most == 1, f"the model was asked for one answer {most} times"
    assert len(server.requests) == kills + 1, f"the model was asked {len(server.requests)} times"


def _agent(server: AgentModel, kills: int) -> dict[str, Any]:
    given = {
        "model": "agent",
        "baseUrl": server.url,
        "prompt": "Work hard",
        "tools": [{"name": "double"}],
        "maxTurns": kills + 1,
    }
    tool = effect("double", value="{{ item.arguments.number * 2 }}", killTimes=1)
    return task("clerk", "llm.agent", **{"with": given}, body={"tasks": [tool]})


AGENT_KILLED = Fault(
    "agent-killed",
    "`kill -9` of a worker child at each of an agent's 100 tool calls",
    "the agent goes on in under 2 s; the model is asked for no recorded answer again",
    2,
    _run,
    load=Load(rate=1),
)
