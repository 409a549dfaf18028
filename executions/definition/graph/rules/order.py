"""A body's tasks can be put in order: no cycles, and nothing that only a cycle leads to."""

from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading
from executions.definition.graph.topology import cycles, topological_order

SHOWN_TASKS = 20


def order_problems(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Each cycle, named in order at its first task, and the tasks that cannot be reached."""
    count, pairs = len(reading.tasks), reading.pairs
    stuck = set(range(count)) - set(topological_order(count, pairs))
    if not stuck:
        return
    for cycle in cycles(count, pairs):
        ids = [reading.tasks[index].id for index in [*cycle, cycle[0]]]
        if len(ids) > SHOWN_TASKS:
            ids[SHOWN_TASKS - 1 : -1] = ["…"]
        message = f"these tasks wait for each other: {' → '.join(ids)}; take out one of the edges"
        yield problem(reading.tasks[cycle[0]].pointer, "cycle", message)
    # Of what is stuck, that which leads to no cycle is not to blame: it only comes after one.
    backwards = [(target, source) for source, target in pairs]
    for index in sorted(stuck & set(topological_order(count, backwards))):
        task = reading.tasks[index]
        message = f'"{task.id}" cannot be reached: every way to it leads through a cycle'
        yield problem(task.pointer, "unreachable", message)
