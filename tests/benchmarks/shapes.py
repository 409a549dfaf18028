"""The graphs of the workloads; each step reads the output of the one before it."""

from typing import Any

CHAIN = 20
FAN = 50
ITEMS = 10_000


def chain(use: str) -> dict[str, Any]:
    """Return a chain of twenty steps."""
    tasks = [_task(0, use, "{{ input.n }}")]
    tasks += [_task(i, use, f"{{{{ tasks.s{i - 1}.output.value }}}}") for i in range(1, CHAIN)]
    edges = [{"from": f"s{i - 1}", "to": f"s{i}"} for i in range(1, CHAIN)]
    return _document(f"chain {use}", tasks, edges)


def fan(use: str) -> dict[str, Any]:
    """Return one step, fifty parallel steps, and a join that reads all fifty outputs."""
    join = FAN + 1
    branches = range(1, join)
    tasks = [_task(0, use, "{{ input.n }}")]
    tasks += [_task(i, use, "{{ tasks.s0.output.value }}") for i in branches]
    everything = [f"{{{{ tasks.s{i}.output.value }}}}" for i in branches]
    tasks.append(_task(join, use, everything) | {"join": "all"})
    edges = [{"from": "s0", "to": f"s{i}"} for i in branches]
    edges += [{"from": f"s{i}", "to": f"s{join}"} for i in branches]
    return _document(f"fan {use}", tasks, edges)


def abreast(use: str, width: int) -> dict[str, Any]:
    """Return parallel steps that are ready together, with nothing after them."""
    return _document(f"abreast {use}", [_task(i, use, "{{ input.n }}") for i in range(width)], [])


def mapped(use: str) -> dict[str, Any]:
    """Return one step for each of ten thousand items, and the list of their outputs."""
    body = {"tasks": [_task(0, use, "{{ item }}")], "edges": []}
    each = {"id": "each", "use": "flow.map", "with": {"items": list(range(ITEMS))}, "body": body}
    return _document(f"map {use}", [each], [])


def single(use: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return one step."""
    return _document(f"single {use}", [{"id": "only", "use": use, "with": config}], [])


def _task(number: int, use: str, value: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "use": use, "with": {"value": value}}


def _document(name: str, tasks: list[Any], edges: list[Any]) -> dict[str, Any]:
    return {"schema": "valkyr/1", "name": name, "tasks": tasks, "edges": edges}


# What a side of its own (side.py) can measure, and how many steps an execution has.
BY_NAME = {
    "W1e": (chain("bench.effect"), CHAIN),
    "W1p": (chain("bench.pure"), CHAIN),
    "W2e": (fan("bench.effect"), FAN + 2),
    "W2p": (fan("bench.pure"), FAN + 2),
    "one": (single("bench.effect", {"value": "{{ input.n }}"}), 1),
    "warm": (single("bench.pure", {"value": 1}), 1),
}
