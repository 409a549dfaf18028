"""A seed's contents: its workflow, the number of executions, and the rate of faults."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.support.graphs import Drawn, draw

EVENT, APPROVAL = "heard", "decided"


@dataclass(frozen=True)
class Chances:
    """Chances from 0 to 1, for each message, statement, or turn."""

    lose: float
    double: float
    refuse: float
    die: float
    leave: float
    freeze: float
    sweep: float
    operate: float
    expire: float  # that a live worker's lease expires, each time that time passes
    cancel: float


HARSH = Chances(
    lose=0.05,
    double=0.4,
    refuse=0.05,
    die=0.02,
    leave=0.01,
    freeze=0.2,
    sweep=0.08,
    operate=0.05,
    expire=0.9,
    cancel=0.05,
)


@dataclass
class Plan:
    """One workflow, its executions and the faults."""

    drawn: Drawn
    executions: int
    places: int | None
    waits: tuple[str, ...]
    workers: int
    chances: Chances
    facts: list[str] = field(default_factory=list)

    def stories(self) -> list[Drawn]:
        """Return the expected result of each execution; repairs of one do not affect others."""
        return [replace(self.drawn, mended=set()) for _ in range(self.executions)]


def plan(rng: Random, *, harsh: bool = False) -> Plan:
    """Draw the plan; a quarter of the plans are `HARSH`, or all if requested."""
    executions = rng.choice([1, 1, 2, 3, 5])
    if rng.random() < 0.5:
        drawn = draw(rng, most=rng.choice([2, 4, 6]))
    else:
        drawn = draw(rng, most=4, depth=rng.choice([1, 1, 2]), waits=0.0, steps=18)
    waits = tuple(name for name in (EVENT, APPROVAL) if rng.random() < 0.15)
    _wait(drawn.document, waits)
    keyed = rng.random() < 0.3
    if keyed:
        rule = {"key": "{{ input.key }}", "limit": rng.randint(1, 2), "onConflict": "queue"}
        drawn.document["settings"] = {"concurrency": rule}
    places = rng.randint(1, 2) if rng.random() < 0.3 else None
    world = rng.random()
    calm, harsh = world < 0.15, harsh or world > 0.75
    chances = (
        HARSH
        if harsh
        else Chances(
            lose=0 if calm else rng.choice([0, 0.03, 0.1]),
            double=0 if calm else rng.choice([0, 0.1, 0.3]),
            refuse=0 if calm else rng.choice([0, 0.05]),
            die=0 if calm else rng.choice([0, 0.005, 0.02]),
            leave=rng.choice([0, 0, 0.01]),
            freeze=0 if calm else rng.choice([0, 0.03, 0.1]),
            sweep=rng.choice([0.002, 0.01, 0.03]),
            operate=rng.choice([0, 0, 0.005, 0.01]),
            expire=0 if calm else rng.choice([0, 0.3, 0.8]),
            cancel=rng.choice([0, 0, 0.2]),
        )
    )
    facts = [
        f"{executions} executions of {len(drawn.document['tasks'])} tasks",
        f"places {places}" if places else "",
        f"key with limit {drawn.document['settings']['concurrency']['limit']}" if keyed else "",
        *waits,
        str(chances),
    ]
    return Plan(drawn, executions, places, waits, rng.choice([2, 3, 4]), chances,
                [fact for fact in facts if fact])  # fmt: skip


def _wait(document: dict[str, Any], waits: tuple[str, ...]) -> None:
    """Make the workflow wait for an event or a user, in addition to its other work."""
    modules = {
        EVENT: {"use": "flow.wait_for_event", "with": {"event": "go"}},
        APPROVAL: {"use": "flow.approval", "with": {"title": "Go on?"}},
    }
    for name in waits:
        document["tasks"].append({"id": name, **modules[name]})
        if len(document["tasks"]) > 1 and document["tasks"][0]["id"] not in waits:
            after = {"id": f"{name}_after", "use": "test.effect", "with": {"value": 1}}
            outcome = "success" if name == EVENT else "approved"
            document["tasks"].append(after)
            document["edges"].append({"from": name, "to": after["id"], "on": outcome})
