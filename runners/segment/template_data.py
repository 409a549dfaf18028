"""What a step's templates read: variables, results and items, as far as they are loaded."""

from dataclasses import dataclass, field
from typing import Any

from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import Place, split
from executions.definition.templating.secrets import REFERENCES
from runners.segment import template_scope
from runners.segment.context import SegmentContext


@dataclass(slots=True)
class TemplateData:
    """The values that templates of one place see: the workflow itself, or a turn of a body."""

    context: SegmentContext
    place: Place
    variables: dict[str, Any] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # by task id
    outer: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the bodies around, by id
    chain: dict[int, Any] = field(default_factory=dict)  # outputs of steps inside a task's chain
    items: dict[int, Any] = field(default_factory=dict)  # of the nearest map, by index
    last: dict[str, Any] | None = None  # what `loop.previous` is, once loaded
    histories: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The workflow's graph, or a body's."""
        return self.place.graph

    @property
    def prefix(self) -> str:
        """The path of the graph's steps begins with it: `refine[2].`."""
        return self.place.prefix

    def path(self, step: Step) -> str:
        """Return a step's path in the execution."""
        return self.place.prefix + step.path

    def enter(self, place: Place) -> None:
        """Turn to another item of the same map; results of the last one are forgotten."""
        self.place = place
        self.results, self.chain = {}, {}

    def learn(self, rows: list[Any]) -> None:
        """Take in results read from the database: (path, state, outcome, outputs, error, type)."""
        around: list[tuple[int, str, dict[str, Any]]] = []
        for path, state, outcome, outputs, error, error_type in rows:
            prefix, inner = split(path)
            place = self.place if prefix == self.prefix else self._around(prefix)
            steps, index = place.graph.steps, place.graph.by_path[inner]
            task = place.graph.tasks[steps.task_of(index)]
            if state == "SKIPPED":
                found = result(None, "skipped")
            elif state == "FAILED":
                found = result(None, "error", failed(error, error_type, path))
            elif steps.following(index) is None:
                found = result(outputs, outcome)
            else:
                if place is self.place:
                    self.chain[index] = outputs
                continue
            if place is self.place:
                self.results[task.id] = found
            else:
                around.append((len(prefix), task.id, found))
        # A name means the innermost task that has it.
        for _, name, found in sorted(around, key=lambda entry: entry[0]):
            self.outer[name] = found

    def _around(self, prefix: str) -> Place:
        place = self.place
        while place.prefix != prefix and place.outer is not None:
            place = place.outer
        return place

    def scope(self, step: Step, attempt: int) -> dict[str, Any]:
        """Return what the step's templates may name; load what is missing."""
        template_scope.complete(self, step)
        tasks = self.results
        if self.outer:
            tasks = self.outer | tasks
        if step.histories:
            tasks = tasks | template_scope.with_histories(self, step)
        if step.callbacks:
            tasks = tasks | template_scope.with_callback_urls(self, step, tasks)
        scope = {
            "input": self.context.input,
            "vars": self.variables,
            "tasks": tasks,
            "previous": None if step.previous is None else self.chain.get(step.previous),
            "execution": described(self.context, self.place.graph, attempt),
            "secrets": REFERENCES,
        }
        if self.place.outer is not None:
            scope |= template_scope.turn(self)
        return scope


def described(context: SegmentContext, graph: Graph, attempt: int) -> dict[str, Any]:
    """Return the execution as templates see it."""
    return {
        "id": str(context.execution_id),
        "startedAt": context.started_at.isoformat() if context.started_at else None,
        "attempt": attempt,
        "workflow": graph.name,
    }


def result(outputs: Any, outcome: str, error: Any = None) -> dict[str, Any]:
    """Return a task as templates see it."""
    return {"output": outputs, "outcome": outcome, "error": error, "history": []}


def failed(message: str, error_type: str, path: str) -> dict[str, str]:
    """Return a task's error as templates see it."""
    return {"message": message, "type": error_type, "step": path}
