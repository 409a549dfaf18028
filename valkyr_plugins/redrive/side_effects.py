"""Find, in a graph, the steps with side effects that a redrive of a step repeats."""

from collections.abc import Iterator
from dataclasses import dataclass

from executions.public.graphs import Graph, Place, Step, find

HARMLESS = "none"


@dataclass(frozen=True, slots=True)
class Outside:
    """A step with side effects; iterations of bodies are written as `[]`."""

    step: str
    module: str
    effect: str


def of_step(graph: Graph, path: str) -> list[Outside]:
    """Return [the step] if it has side effects, else []. Raises KeyError for an unknown step."""
    place, step = find(graph, path)
    return list(_outside(_stem(place), [step]))


def from_step(graph: Graph, path: str) -> list[Outside]:
    """Return the steps with side effects among a step and all steps that may follow it.

    Raises KeyError for an unknown step.
    """
    place, step = find(graph, path)
    found = list(_outside(_stem(place), _rest_of_chain(place.graph, step)))
    task = step.task
    while True:
        found += _of_tasks(place.graph, _stem(place), _after(place.graph, task))
        if place.outer is None:
            return list(dict.fromkeys(found))
        if place.graph.kind == "loop":  # steps before it run again in the next iteration
            found += of_graph(place.graph, _stem(place))
        task, place = place.container, place.outer


def of_graph(graph: Graph, stem: str = "") -> list[Outside]:
    """Return all steps with side effects, including steps of bodies, without duplicates."""
    return list(dict.fromkeys(_of_tasks(graph, stem, range(len(graph.tasks)))))


def _of_tasks(graph: Graph, stem: str, tasks: range | list[int]) -> Iterator[Outside]:
    for index in tasks:
        task = graph.tasks[index]
        yield from _outside(stem, [graph.steps[step] for step in task.steps])
        if task.body is not None:
            yield from of_graph(task.body, f"{stem}{task.id}[].")


def _outside(stem: str, steps: list[Step]) -> Iterator[Outside]:
    for step in steps:
        if step.effect != HARMLESS:
            yield Outside(stem + step.path, step.module, step.effect)


def _rest_of_chain(graph: Graph, step: Step) -> list[Step]:
    """Return the step and the steps that follow it in its task."""
    found = [step]
    while (following := found[-1].following) is not None:
        found.append(graph.steps[following])
    return found


def _after(graph: Graph, task: int) -> list[int]:
    """Return the indexes of all tasks that can follow a task, in the definition's order."""
    seen: set[int] = set()
    waiting = [task]
    while waiting:
        targets = {edge.target for edge in graph.tasks[waiting.pop()].outgoing} - seen
        seen |= targets
        waiting += targets
    return sorted(seen)


def _stem(place: Place) -> str:
    return "" if place.outer is None else f"{_stem(place.outer)}{place.task.id}[]."
