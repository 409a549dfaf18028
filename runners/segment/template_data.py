"""The data that a step's templates read: variables, results, items and callback URLs."""

from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from django.core.signing import BadSignature, Signer

from executions import addresses
from executions.definition.graph.document import CALLBACK_URL
from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import UNDO, Place, split
from executions.definition.templating.secrets import REFERENCES
from executions.payloads import is_reference
from executions.sealing.sealer import opened, opened_results, opened_variables
from runners import statements
from runners.segment import stored_results
from runners.segment.context import SegmentContext

# The callback URL of a waiting step: it is signed, so that it cannot be forged, and known before
# the step waits.
#
# The URL contains only the execution and the step, and never changes, so a retry sends the same URL
# to other systems. The URL's holder can answer once.


_SALT = "valkyr.callback"
# Separates the token from its signature. The token's other characters are letters, digits, - and _.
_SEPARATOR = "."


def callback_url_of(execution_id: UUID, step_path: str) -> str:
    """Return the public URL that an external system calls to resume a step."""
    token = _signer().sign_object([execution_id.hex, step_path])
    return addresses.public(f"{addresses.CALLBACKS}{token}")


def read_callback_url(token: str) -> tuple[UUID, str] | None:
    """Return the execution ID and step path of a token; None if Valkyr did not issue it."""
    try:
        execution, path = _signer().unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return UUID(hex=execution), path


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=_SEPARATOR)


# Load what a step's templates read from the rows: results, a map's item, a loop's history.


MAX_HISTORY = 1_000  # maximum outputs of one task
MAX_HISTORIES = 10_000  # maximum outputs in one rendering


def complete(data: "TemplateData", step: Step) -> None:
    """Load the data that the step's templates read and that is not loaded yet."""
    paths = missing(data, step)
    if paths:
        data.learn(data.source.results(data.context.execution_id, paths))
    if step.reads_item:
        _load_item(data)
    if step.reads_last:
        load_last(data)


class ResultSource(Protocol):
    """The source from which templates get the results of finished steps and the items of maps."""

    def results(self, execution_id: UUID, paths: list[str]) -> list[tuple[Any, ...]]:
        """Return rows of finished steps' results, in the form that `TemplateData.learn` accepts."""

    def items(self, data: "TemplateData", place: Place, indexes: list[int]) -> dict[int, Any]:
        """Return items of the map that contains `place`, keyed by index."""

    def load(self, workspace_id: UUID, value: Any) -> Any:
        """Return the value, with each reference to a stored value replaced with that value."""


class ResultRows:
    """The results and items in the rows of an execution."""

    def results(self, execution_id: UUID, paths: list[str]) -> list[tuple[Any, ...]]:
        """Return rows of finished steps' results. Uses one query."""
        return results_of(execution_id, paths)

    def items(self, data: "TemplateData", place: Place, indexes: list[int]) -> dict[int, Any]:
        """Return items of the map that contains `place`, keyed by index. Uses one query."""
        return _items_of(data, place, indexes)

    def load(self, workspace_id: UUID, value: Any) -> Any:
        """Return the value, with each reference replaced with the value in the payload store."""
        return stored_results.read(workspace_id, value)


ROWS = ResultRows()


def results_of(execution_id: UUID, paths: list[str]) -> list[tuple[Any, ...]]:
    """Return the rows of finished steps' results, in the form that `TemplateData.learn` accepts."""
    found = statements.fetch("results", {"execution": execution_id, "reads": paths})
    return opened_results(execution_id, found)


def current(execution_id: UUID) -> tuple[dict[str, Any], Any, Any]:
    """Return the execution's current variables, its input, and the time of its start."""
    row = statements.fetch_one("execution_template_data", {"execution": execution_id})
    assert row is not None
    variables, payload, started_at = row
    payload = opened(execution_id, payload, "trigger_payload")
    return opened_variables(execution_id, variables), payload, started_at


def missing(data: "TemplateData", step: Step) -> list[str]:
    """Return the paths of the results that this step's templates read but that are not loaded."""
    graph = data.graph
    paths = [
        path
        for task in step.reads
        if graph.tasks[task].id not in data.results
        for path in task_paths(data.place, task)
    ]
    for levels, task in step.outer_reads:
        place = data.place.up(levels)
        if place.graph.tasks[task].id not in data.outer:
            paths += task_paths(place, task)
    if step.reads_previous and step.previous is not None and step.previous not in data.chain:
        paths.append(data.prefix + graph.steps.path(step.previous))
    return paths


def reads_of(place: Place, step: Step) -> list[str]:
    """Return the paths of all steps whose results a step's templates read."""
    paths = [path for task in step.reads for path in task_paths(place, task)]
    for levels, task in step.outer_reads:
        paths += task_paths(place.up(levels), task)
    if step.reads_previous and step.previous is not None:
        paths.append(place.prefix + place.graph.steps.path(step.previous))
    return paths


def task_paths(place: Place, task: int) -> list[str]:
    """Return the paths of a task's steps."""
    return [place.prefix + place.graph.steps.path(i) for i in place.graph.tasks[task].steps]


def last_paths(place: Place) -> list[str]:
    """Return the path of each task's last step; these steps hold an iteration's outputs.

    A failed task may have ended at an earlier step, which has no output.
    """
    return [place.prefix + place.graph.steps.path(task.steps[-1]) for task in place.graph.tasks]


def turn(data: "TemplateData") -> dict[str, Any]:
    """Return `item` and `index` of the innermost map and `loop` of the innermost loop, if any."""
    scope: dict[str, Any] = {}
    of_map, of_loop = data.place.nearest("map"), data.place.nearest("loop")
    if of_map is not None:
        scope["index"] = of_map.index
        scope["item"] = data.items.get(of_map.index)
    if of_loop is not None:
        scope["loop"] = {
            "index": of_loop.index,
            "iteration": of_loop.index + 1,
            "previous": data.last,
        }
    return scope


def load_items(data: "TemplateData", indexes: list[int]) -> None:
    """Load the items with these indexes of the innermost map."""
    place = data.place.nearest("map")
    assert place is not None
    data.items = data.source.items(data, place, indexes)


def _items_of(data: "TemplateData", place: Place, indexes: list[int]) -> dict[int, Any]:
    found = statements.fetch(
        "items_for_undo" if data.prefix.endswith(UNDO) else "items",
        {
            "execution": data.context.execution_id,
            "epoch": data.context.epoch,
            "path": place.holder,
            "indexes": indexes,
        },
    )
    inputs = next((inputs for *_, inputs in found if inputs is not None), None)
    if inputs is None:
        return {index: item for index, item, _ in found}
    items = opened(data.context.execution_id, inputs, "inputs", place.holder)["items"]
    if is_reference(items):
        return stored_results.load_items(data, items, indexes)
    return {index: items[index] for index in indexes if index < len(items)}


def outputs_of_turn(data: "TemplateData", place: Place) -> dict[str, Any]:
    """Return the outputs of an iteration's tasks, keyed by ID; null if skipped or failed."""
    paths = dict(zip(last_paths(place), place.graph.tasks, strict=True))
    outputs: dict[str, Any] = {task.id: None for task in place.graph.tasks}
    rows = data.source.results(data.context.execution_id, list(paths))
    for path, state, _, value, *_ in rows:
        if state == "SUCCESS":
            outputs[paths[path].id] = value
    return outputs


def with_histories(data: "TemplateData", step: Step) -> dict[str, Any]:
    """Return the tasks whose history the step reads, keyed by ID, each with its `history`."""
    graph = data.graph
    for task in step.histories:
        name = graph.tasks[task].id
        if name not in data.histories:
            data.histories[name] = _history(data, graph, task, len(step.histories))
    blank = {"output": None, "outcome": "", "error": None}
    return {
        name: data.results.get(name, blank) | {"history": data.histories[name]}
        for name in (graph.tasks[task].id for task in step.histories)
    }


def with_callback_urls(data: "TemplateData", step: Step, tasks: dict[str, Any]) -> dict[str, Any]:
    """Return the tasks whose callback URL the step reads, keyed by ID, each with its `callbackUrl`.

    These tasks may not have started.
    """
    found = {}
    for levels, task in step.callbacks:
        place = data.place.up(levels)
        name, path = place.graph.tasks[task].id, task_paths(place, task)[-1]
        blank = {"output": None, "outcome": "", "error": None}
        found[name] = tasks.get(name, blank) | {
            CALLBACK_URL: callback_url_of(data.context.execution_id, path)
        }
    return found


def _history(data: "TemplateData", graph: Graph, task: int, sharing: int) -> list[Any]:
    most = min(MAX_HISTORY, MAX_HISTORIES // sharing)
    place = data.place
    indexes = range(max(0, place.index - most), place.index)
    last = graph.steps[graph.tasks[task].steps[-1]].path
    paths = {f"{place.turn(index).prefix}{last}": index for index in indexes}
    rows = data.source.results(data.context.execution_id, list(paths))
    found = {paths[row[0]]: row[3] for row in rows if row[1] == "SUCCESS"}
    return [found[index] for index in sorted(found)]


def _load_item(data: "TemplateData") -> None:
    place = data.place.nearest("map")
    if place is not None and place.index not in data.items:
        load_items(data, [place.index])


def load_last(data: "TemplateData") -> None:
    """Load the outputs of the previous iteration of the innermost loop."""
    place = data.place.nearest("loop")
    if place is not None and place.index and data.last is None:
        data.last = outputs_of_turn(data, place.turn(place.index - 1))


@dataclass(slots=True)
class TemplateData:
    """The values for templates in one place: the workflow, a body's iteration, or undo steps."""

    context: SegmentContext
    place: Place
    variables: dict[str, Any] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # by task id
    # Results of enclosing bodies, by task id.
    outer: dict[str, dict[str, Any]] = field(default_factory=dict)
    chain: dict[int, Any] = field(default_factory=dict)  # outputs of steps inside a task's chain
    items: dict[int, Any] = field(default_factory=dict)  # items of the innermost map, by index
    last: dict[str, Any] | None = None  # the value of `loop.previous`, once loaded
    histories: dict[str, list[Any]] = field(default_factory=dict)
    # Values that were stored or loaded whole, with their references, by `id()` of the values.
    stored: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    # The input, variables and others that templates read, as loaded, by their paths.
    given: dict[tuple[str, ...], tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    # Whether a rendered value may contain a value that is too large to load.
    not_loaded: bool = False
    unloadable: Exception | None = None  # why a stored value cannot be loaded
    # The execution as templates see it, without the attempt.
    execution: dict[str, Any] = field(default_factory=dict)
    source: ResultSource = ROWS

    @property
    def graph(self) -> Graph:
        """Return the graph of the workflow or of a body."""
        return self.place.graph

    @property
    def prefix(self) -> str:
        """Return the prefix of all step paths in this place, such as `refine[2].`."""
        return self.place.prefix

    def path(self, step: Step) -> str:
        """Return a step's path in the execution."""
        return self.place.prefix + step.path

    def enter(self, place: Place) -> None:
        """Switch to another place, such as another item, and forget the old place's results."""
        self.place = place
        self.results, self.chain = {}, {}

    def learn(self, rows: list[Any]) -> None:
        """Add results read from the database: (path, state, outcome, outputs, error, type)."""
        around: list[tuple[int, str, dict[str, Any]]] = []
        for path, state, outcome, outputs, error, error_type in rows:
            prefix, inner = split(path)
            place = self.place if prefix == self.prefix else self._around(prefix)
            steps, index = place.graph.steps, place.graph.by_path[inner]
            task = place.graph.tasks[steps.task_of[index]]
            if state == "SKIPPED":
                found = result(None, "skipped")
            elif state == "FAILED":
                found = result(None, "error", failed(error, error_type, path))
            elif steps.following[index] is None:
                found = result(outputs, outcome)
            else:
                if place is self.place:
                    self.chain[index] = outputs
                continue
            if place is self.place:
                self.results[task.id] = found
            else:
                around.append((len(prefix), task.id, found))
        # A name refers to the innermost task of that name, so inner tasks are set last.
        for _, name, found in sorted(around, key=lambda entry: entry[0]):
            self.outer[name] = found

    def _around(self, prefix: str) -> Place:
        place = self.place
        while place.prefix != prefix and place.outer is not None:
            place = place.outer
        return place

    def scope(self, step: Step, attempt: int, *, stored: bool = True) -> dict[str, Any]:
        """Return the values that the step's templates may use, keyed by name; load missing values.

        With `stored`, also load values from object storage.
        """
        complete(self, step)
        tasks = self.results
        if self.outer:
            tasks = self.outer | tasks
        if step.histories:
            tasks = tasks | with_histories(self, step)
        if step.callbacks:
            tasks = tasks | with_callback_urls(self, step, tasks)
        scope = {
            "input": self.context.input,
            "vars": self.variables,
            "tasks": tasks,
            "previous": None if step.previous is None else self.chain.get(step.previous),
            "execution": self._execution(attempt),
            "secrets": REFERENCES,
        }
        if self.place.outer is not None:
            scope |= turn(self)
        if stored:
            stored_results.load(self, step, scope)
        return scope

    def _execution(self, attempt: int) -> dict[str, Any]:
        if not self.execution:
            self.execution = described(self.context, self.place.graph, attempt)
        return self.execution | {"attempt": attempt}


def described(context: SegmentContext, graph: Graph, attempt: int) -> dict[str, Any]:
    """Return an execution's description as templates see it."""
    return {
        "id": str(context.execution_id),
        "startedAt": context.started_at.isoformat() if context.started_at else None,
        "attempt": attempt,
        "workflow": graph.name,
    }


def result(outputs: Any, outcome: str, error: Any = None) -> dict[str, Any]:
    """Return a finished task's result as templates see it."""
    return {"output": outputs, "outcome": outcome, "error": error, "history": []}


def failed(message: str, error_type: str, path: str) -> dict[str, str]:
    """Return a task's error as templates see it."""
    return {"message": message, "type": error_type, "step": path}
