"""Which tasks have not begun, and which of those before them they wait for: pure."""

from collections.abc import Mapping

from executions.definition.graph.model import Graph, Task
from executions.definition.graph.plan import StepFact, StepStatus, task_outcomes
from executions.explain.reason import Reason, some


def waiting_tasks(
    graph: Graph, prefix: str, facts: Mapping[int, StepFact]
) -> list[tuple[Task, Reason]]:
    """The tasks of one place that wait for others, with their reasons, in the graph's order."""
    outcomes = task_outcomes(graph, facts)
    begun = {graph.steps.task_of(index) for index in facts}
    dead = {graph.steps.task_of(i) for i, fact in facts.items() if fact.status is StepStatus.DEAD}
    found = []
    for number in graph.order:
        task = graph.tasks[number]
        if number in outcomes or number in begun:
            continue
        before = sorted({e.source for e in task.incoming if e.source not in outcomes})
        if before:
            names = [prefix + graph.tasks[source].id for source in before]
            stuck = [prefix + graph.tasks[source].id for source in before if source in dead]
            found.append((task, _reason(names, stuck)))
    return found


def _reason(names: list[str], stuck: list[str]) -> Reason:
    if stuck:
        return Reason(
            "blocked_by_dead_step",
            f"It waits for {some(names)}; {some(stuck)} failed for good.",
            details={"tasks": names, "dead": stuck},
        )
    return Reason("waiting_for_tasks", f"It waits for {some(names)}.", details={"tasks": names})
