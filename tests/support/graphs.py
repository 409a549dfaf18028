"""Random workflows: gates, error edges, joins, chains, failures and retries."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

ERROR = "error"
RETRY = {"maxAttempts": 3, "baseSeconds": 0.05, "jitter": [0, 0.05]}
CHOICES = ("left", "right", "middle")


@dataclass
class Drawn:
    """A definition, and how each of its steps ends for good when it runs."""

    document: dict[str, Any]
    ends: dict[str, str] = field(default_factory=dict)


def draw(rng: Random, *, most: int = 12, retry: Any = None, seconds: float = 0.0) -> Drawn:
    """A workflow of one to `most` tasks; its effect steps take up to `seconds`."""
    drawn = Drawn({"schema": "valkyr/1", "name": "random", "tasks": [], "edges": []})
    outcomes: dict[str, list[str]] = {}
    for number in range(rng.randint(1, most)):
        name = f"t{number}"
        task, can = _task(rng, name, drawn.ends, retry or RETRY, seconds)
        drawn.document["tasks"].append(task)
        drawn.document["edges"] += _edges(rng, name, outcomes, join=task.get("join", "any"))
        outcomes[name] = can
    return drawn


def _task(
    rng: Random, name: str, ends: dict[str, str], retry: Any, seconds: float
) -> tuple[dict[str, Any], list[str]]:
    """A task and what its edges may be `on`."""
    kind = rng.choice(["pure", "pure", "effect", "effect", "gate", "effect gate", "chain", "bad"])
    queue = rng.choice(["default", "default", "io"])
    more: dict[str, Any] = {"retry": retry, "queue": queue}
    if rng.random() < 0.3:
        more["join"] = "all"
    path = f"{name}.main"
    if kind == "chain":
        modules = []
        for part in ("a", "b", "c")[: rng.randint(2, 3)]:
            use = rng.choice(["flow.noop", "test.effect"])
            config = _config(rng, seconds) if use == "test.effect" else {"value": part}
            modules.append({"id": part, "use": use, "with": config})
            ends[f"{name}.{part}"] = _end(config)
        return {"id": name, "modules": modules, **more}, ["success"]
    if kind in {"gate", "effect gate"}:
        chosen = rng.choice(CHOICES)
        ends[path] = chosen
        if kind == "gate":
            config = {"value": chosen, "cases": list(CHOICES)}
            return {"id": name, "use": "flow.switch", "with": config, **more}, [*CHOICES]
        config = {"outcome": chosen, "outcomes": list(CHOICES)}
        return {"id": name, "use": "test.effect", "with": config, **more}, [*CHOICES]
    if kind == "bad":
        ends[path] = ERROR
        if rng.random() < 0.5:
            return {"id": name, "use": "flow.fail", "with": {"message": "no"}, **more}, ["success"]
        config = {"failTimes": 99, "errorType": rng.choice(["TRANSIENT", "PERMANENT"])}
        return {"id": name, "use": "test.effect", "with": config, **more}, ["success"]
    use = "flow.noop" if kind == "pure" else "test.effect"
    config = {"value": name} if kind == "pure" else _config(rng, seconds)
    ends[path] = _end(config)
    return {"id": name, "use": use, "with": config, **more}, ["success"]


def _config(rng: Random, seconds: float) -> dict[str, Any]:
    """Mostly well, sometimes a failure or two first (the policy allows three attempts)."""
    fails = rng.choice([0, 0, 0, 1, 2])
    return {"value": fails, "failTimes": fails, "seconds": round(rng.random() * seconds, 3)}


def _end(config: dict[str, Any]) -> str:
    return ERROR if config.get("failTimes", 0) >= RETRY["maxAttempts"] else "success"


def _edges(
    rng: Random, name: str, outcomes: dict[str, list[str]], *, join: str
) -> list[dict[str, str]]:
    """Edges into a task from some of those before it; now and then none.

    Two from one source only with `join: any`: a source has one outcome.
    """
    if not outcomes or rng.random() < 0.12:
        return []
    earlier = list(outcomes)
    sources = rng.sample(earlier, min(len(earlier), rng.choice([1, 1, 1, 2, 2, 3, 5])))
    edges = []
    for source in sources:
        ways = [*outcomes[source], ERROR] if rng.random() < 0.35 else outcomes[source]
        two = join == "any" and len(ways) > 2 and rng.random() < 0.2
        chosen = rng.sample(ways, 2 if two else 1)
        edges += [{"from": source, "to": name, "on": on} for on in chosen]
    return edges
