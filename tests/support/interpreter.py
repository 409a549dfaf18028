"""The expected result of a workflow, computed by going through its tasks one after another.

It is written only from the format's description, and works on the plain document, so that it shares
neither code nor data structures with the engine. Containers are processed place by place: iteration
1 of the loop `refine` is the place `refine[1].`, item 2 of the map `batch` is `batch[2].`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.expressions import Unknowable, Unrenderable, render, truth

SUCCESS = "success"
ERROR = "error"
LOOPS = ("flow.loop", "llm.agent")
CONTAINERS = (*LOOPS, "flow.map")
AGENT_OUTPUT = ("text", "output", "turns", "toolCalls", "usage", "cost", "messages")
IN_MEMORY = ("flow.noop", "flow.if", "flow.switch", "flow.fail")
ITERATIONS = 1000  # the limit of loops with a condition, unless they set a lower one

Scope = dict[str, Any]
# How the step of a path ends and what it returns, from its module and the names in scope.
Act = Callable[[str, Mapping[str, Any], Scope], tuple[str, Any]]


class Anything:
    """An output that cannot be predicted, such as a duration."""


class Missing(Exception):
    """A step had to run, but the caller gave no end for it."""


@dataclass(frozen=True)
class FailedItem:
    """Replaces a failed item's output in a map's output; `steps` failed in it."""

    steps: frozenset[str]


@dataclass
class Story:
    """The expected end of an execution: its state, each task's outcome, and the result of each
    step.

    Tasks and steps are named by their paths with places: `refine[1].draft`, `refine[1].draft.main`.
    `perhaps` are places that may or may not be entered: items of a map after one that failed
    permanently. The story contains the places that were entered.
    """

    state: str = "SUCCESS"
    outcomes: dict[str, str] = field(default_factory=dict)  # of tasks that ended
    outputs: dict[str, Any] = field(default_factory=dict)  # of steps that succeeded
    skipped: set[str] = field(default_factory=set)  # tasks
    dead: set[str] = field(default_factory=set)  # steps that failed, without an error edge
    failed_over: set[str] = field(default_factory=set)  # steps whose error edge was taken
    failed: set[str] = field(default_factory=set)  # steps whose failure a container handles
    done: set[str] = field(default_factory=set)  # steps that succeeded
    stuck: set[str] = field(default_factory=set)  # containers that hold a dead step
    perhaps: set[str] = field(default_factory=set)  # places
    ends: dict[str, str] = field(default_factory=dict)  # of all steps that ended
    pure: int = 0  # how many of these are of the family of pure modules
    sizes: dict[str, int] = field(default_factory=dict)  # of containers: iterations begun, items
    undos: dict[str, Any] = field(default_factory=dict)  # the inputs of each undo, by path

    def ran(self) -> set[str]:
        """Return the steps that ran, including containers."""
        return self.done | self.dead | self.failed_over | self.failed | self.stuck


def interpret(
    document: Mapping[str, Any],
    ends: Mapping[str, str] | Act,
    *,
    scope: Mapping[str, Any] | None = None,
    entered: Callable[[str], bool] = lambda place: False,
) -> Story:
    """Return the story of `{tasks, edges}` if each step that runs ends (after its retries) as
    given.

    `ends` maps a step's path to `success`, a gate's outcome, or `error`; or it is a function that
    is called for each step. A container's end follows from its body's. `scope` has the known names
    besides the tasks (`input`, `vars`). `entered` returns whether an optional place was entered.
    Raise Missing if an end is not given.
    """
    act = ends if callable(ends) else _told(ends)
    story = Story()
    whole = _Whole(story, act, entered)
    _Body(whole, document, "", dict(scope or {}), minded=False).go()
    if story.dead:
        story.state = "FAILED"
    return story


def paths(task: Mapping[str, Any]) -> list[str]:
    """Return the paths of a task's steps within its body, in order."""
    return [f"{task['id']}.{module['id']}" for module in modules(task)]


def places(step_paths: Iterable[str]) -> set[str]:
    """Return every place of some steps, including the places around it."""
    return {path[: end.end()] for path in step_paths for end in re.finditer(r"\]\.", path)}


def modules(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a task's modules; the short form is written in full."""
    if task.get("modules"):
        return list(task["modules"])
    return [{"id": "main", "use": task.get("use", ""), "with": task.get("with") or {}}]


def _told(ends: Mapping[str, str]) -> Act:
    def act(path: str, module: Mapping[str, Any], scope: Scope) -> tuple[str, Any]:
        if path not in ends:
            raise Missing(path)
        return ends[path], None

    return act


@dataclass
class _Whole:
    """The data that all bodies share."""

    story: Story
    act: Act
    entered: Callable[[str], bool]


class _Stuck(Exception):
    """A container cannot end: a step in it is dead."""


class _Failed(Exception):
    """A container failed permanently."""


class _Body:
    """One place: the workflow itself, or one iteration or item of a container's body."""

    def __init__(
        self, whole: _Whole, document: Mapping[str, Any], place: str, around: Scope, *, minded: bool
    ) -> None:
        self.whole = whole
        self.story = whole.story
        self.place = place
        self.around = around
        self.minded = minded
        self.tasks = {task["id"]: task for task in document["tasks"]}
        self.incoming: dict[str, list[Mapping[str, str]]] = {name: [] for name in self.tasks}
        self.outgoing: dict[str, list[Mapping[str, str]]] = {name: [] for name in self.tasks}
        for edge in document.get("edges", []):
            self.incoming[edge["to"]].append(edge)
            self.outgoing[edge["from"]].append(edge)
        self.outcomes: dict[str, str] = {}
        self.outputs: dict[str, Any] = {}
        self.skipped: set[str] = set()
        self.hanging: set[str] = set()  # tasks that are dead or hold a dead step
        self.failures: set[str] = set()  # steps that failed permanently, handled by a container
        self.histories: dict[str, list[Any]] = {}

    def go(self) -> None:
        """Go through all tasks that can be reached."""
        waiting = list(self.tasks)
        progress = True
        while progress:
            progress = False
            for name in list(waiting):
                sources = {edge["from"] for edge in self.incoming[name]}
                if not all(s in self.outcomes or s in self.skipped for s in sources):
                    continue
                progress = True
                waiting.remove(name)
                if self._wanted(name):
                    self._run(name)
                else:
                    self.skipped.add(name)
                    self.story.skipped.add(self.place + name)

    def _wanted(self, name: str) -> bool:
        incoming = self.incoming[name]
        taken = [self.outcomes.get(e["from"]) == e.get("on", SUCCESS) for e in incoming]
        if self.tasks[name].get("join", "any") == "all":
            return all(taken)
        return any(taken) or not incoming

    def _run(self, name: str) -> None:
        task = self.tasks[name]
        scope = self.scope()
        output: Any = None
        end = SUCCESS
        for position, module in enumerate(modules(task)):
            path = f"{self.place}{name}.{module['id']}"
            scope["previous"] = output if position else None
            try:
                end, output = self._step(task, module, path, scope)
            except _Stuck:
                self.story.stuck.add(path)
                self.hanging.add(name)
                return
            self.story.ends[path] = end
            self.story.pure += module["use"].startswith("flow.")
            if end == ERROR:
                self._failed(name, path)
                return
            self.story.done.add(path)
            self.story.outputs[path] = output
        self._ended(name, end)
        self.outputs[name] = output
        if "undo" in task:
            given = render(task["undo"]["with"], self.scope())
            self.story.undos[f"{self.place}undo:{name}.main"] = given

    def _step(
        self, task: Mapping[str, Any], module: Mapping[str, Any], path: str, scope: Scope
    ) -> tuple[str, Any]:
        if module["use"] not in CONTAINERS:
            return self.whole.act(path, module, scope)
        minds = self.minded or self._takes_errors(task["id"])
        make = _Loop if module["use"] in LOOPS else _Map
        try:
            return SUCCESS, make(self, task, module["with"], scope, minds=minds).go()
        except _Failed:
            return ERROR, None

    def _takes_errors(self, name: str) -> bool:
        return any(edge.get("on") == ERROR for edge in self.outgoing[name])

    def _failed(self, name: str, path: str) -> None:
        if self._takes_errors(name):
            self.story.failed_over.add(path)
            self._ended(name, ERROR)
        elif self.minded:
            self.story.failed.add(path)
            self.failures.add(path)
            self._ended(name, ERROR)
        else:
            self.story.dead.add(path)
            self.hanging.add(name)

    def _ended(self, name: str, outcome: str) -> None:
        self.outcomes[name] = outcome
        self.story.outcomes[self.place + name] = outcome

    def scope(self) -> Scope:
        """Return the names that a step of this body may use; a task's name refers to the
        innermost task.
        """
        own = {
            name: {
                "output": self.outputs.get(name),
                "outcome": self.outcomes.get(name, "skipped" if name in self.skipped else ""),
                "history": self.histories.get(name, []),
            }
            for name in self.tasks
        }
        return self.around | {"tasks": self.around.get("tasks", {}) | own}

    def output(self) -> Any:
        """Return the body's output: the output of its only last task, or the outputs of all
        last tasks by id.
        """
        last = [name for name in self.tasks if not self.outgoing[name]]
        if len(last) == 1:
            return self.outputs.get(last[0])
        return {name: self.outputs.get(name) for name in last}

    def all_outputs(self) -> dict[str, Any]:
        """Return every task's output by its id."""
        return {name: self.outputs.get(name) for name in self.tasks}


class _Container:
    """A loop or a map in one place."""

    def __init__(
        self,
        outer: _Body,
        task: Mapping[str, Any],
        config: Mapping[str, Any],
        scope: Scope,
        *,
        minds: bool,
    ) -> None:
        self.outer = outer
        self.task = task
        self.config = config
        self.scope = scope
        self.minds = minds

    def _size(self, size: int) -> None:
        self.outer.story.sizes[f"{self.outer.place}{self.task['id']}.main"] = size

    def place(self, index: int) -> str:
        return f"{self.outer.place}{self.task['id']}[{index}]."

    def entered(self, index: int) -> bool:
        return self.outer.whole.entered(self.place(index))

    def body(self, index: int, names: Scope) -> _Body:
        document = self.task["body"]
        around = self.scope | names
        return _Body(self.outer.whole, document, self.place(index), around, minded=self.minds)


class _Loop(_Container):
    """Iterations one after another, until the count is reached or the condition ends the loop."""

    def go(self) -> dict[str, Any]:
        """Return the loop's output. Raise _Failed or _Stuck."""
        index, last = 0, None
        histories: dict[str, list[Any]] = {}
        body = self._turn(0, None)
        self._size(0)
        while self._goes_on(index, body):
            self._size(index + 1)
            body = self._turn(index, last)
            body.histories = {name: [*earlier] for name, earlier in histories.items()}
            body.go()
            if body.hanging:
                raise _Stuck
            if body.failures:
                raise _Failed
            last = body.all_outputs()
            for name, output in body.outputs.items():
                histories.setdefault(name, []).append(output)
            index += 1
        if "resultOf" in self.config:  # an agent's: what its last turn came to
            told = (last or {})[self.config["resultOf"]]
            return {name: told[name] for name in AGENT_OUTPUT}
        return {"iterations": index, "last": last}

    def _turn(self, index: int, last: Any) -> _Body:
        loop = {"index": index, "iteration": index + 1, "previous": last}
        return self.body(index, {"loop": loop})

    def _goes_on(self, index: int, body: _Body) -> bool:
        """Return whether an iteration `index` follows; `body` is the one that just ended, or a new
        one.

        Raise _Failed if the loop itself fails: its condition, its count, or its limit.
        """
        try:
            if "count" in self.config:
                return self._counts(index)
            if "while" in self.config:
                # Evaluated for the next iteration, with the tasks of the previous one.
                last = body.all_outputs() if index else None
                scope = body.scope() | {"loop": self._turn(index, last).around["loop"]}
                wanted = truth(render(self.config["while"], scope))
            else:
                wanted = index == 0 or not truth(render(self.config["until"], body.scope()))
        except Unrenderable:
            raise _Failed from None
        except Unknowable:
            wanted = self.entered(index)
        if wanted and index >= self.config.get("maxIterations", ITERATIONS):
            raise _Failed
        return wanted

    def _counts(self, index: int) -> bool:
        count = render(self.config["count"], self.scope)
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise _Failed
        return index < count


class _Map(_Container):
    """One body per item; the output keeps the order of the items."""

    def go(self) -> list[Any]:
        """Return the map's output. Raise _Failed or _Stuck."""
        tolerant = self.config.get("onItemError", "fail") == "continue"
        self.minds = self.minds or tolerant
        outputs: dict[int, Any] = {}
        stuck = failed = False
        items = self._items()
        for index in self._order(len(items)):
            if (stuck or failed) and not self._perhaps(index):
                continue
            body = self.body(index, {"item": items[index], "index": index})
            body.go()
            if body.hanging:
                stuck = True
            elif body.failures and not tolerant:
                failed = True
            elif body.failures:
                outputs[index] = FailedItem(frozenset(body.failures))
            else:
                outputs[index] = body.output()
        if stuck:
            raise _Stuck
        if failed:
            raise _Failed
        return [outputs[index] for index in sorted(outputs)]

    def _order(self, count: int) -> list[int]:
        """Return the order of the items. If one fails, the others in that worker's memory need not
        begin.

        An item has a row after it was handed out, and must end, unless all its steps run in memory:
        then a worker takes many items and drops the rest of them.
        """
        inside = [module for task in self.task["body"]["tasks"] for module in modules(task)]
        taken_many = not self._one_by_one() and all(m["use"] in IN_MEMORY for m in inside)
        return sorted(range(count), key=lambda index: taken_many and not self.entered(index))

    def _one_by_one(self) -> bool:
        return bool(self.config.get("maxConcurrency", 100) == 1)

    def _perhaps(self, index: int) -> bool:
        """Return whether an item after a failed one was entered, which is possible only if several
        may run at once.
        """
        if self._one_by_one():
            return False
        self.outer.story.perhaps.add(self.place(index))
        return self.entered(index)

    def _items(self) -> list[Any]:
        try:
            items = render(self.config["items"], self.scope)
        except Unrenderable:
            raise _Failed from None
        except Unknowable:
            count = 0
            while self.entered(count):
                count += 1
            return [None] * count
        if not isinstance(items, list):
            raise _Failed
        self._size(len(items))
        return items


def agrees(expected: Any, found: Any) -> bool:
    """Return whether a recorded output is the expected one; a missing value equals null."""
    if isinstance(expected, Anything):
        return True
    if isinstance(expected, FailedItem):
        return (
            isinstance(found, dict)
            and found.keys() == {"error"}
            and found["error"].keys() == {"message", "type", "step"}
            and found["error"]["step"] in expected.steps
        )
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = expected.keys() | found.keys()
        return all(agrees(expected.get(key), found.get(key)) for key in keys)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(agrees, expected, found))
    return bool(expected == found)
