"""Templates can be read, and refer only to what will be there when they are rendered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.graph.problem import Problem, did_you_mean, problem
from executions.graph.reading import BodyReading, TaskEntry
from executions.graph.topology import ancestors, topological_order
from executions.graph.unsupported import UNSUPPORTED_NAMES, not_supported
from executions.templates import inspect_template
from executions.templating.errors import Pointer
from executions.templating.expression import Reference

TASK_ATTRIBUTES = ("output", "outcome", "error", "history")
EXECUTION_ATTRIBUTES = ("id", "startedAt", "attempt", "workflow")
ROOTS = ("input", "vars", "tasks", "previous", "execution")

Mistake = tuple[str, str]  # code, sentence


def template_problems(
    document: Mapping[str, Any], reading: BodyReading, variables: Mapping[str, Any]
) -> Iterator[Problem]:
    """Every mistake in the templates of the tasks' modules and of the output."""
    order = topological_order(len(reading.tasks), reading.pairs)
    before = ancestors(len(reading.tasks), reading.pairs, order)
    ordered = set(order)
    for task in reading.tasks:
        known = before[task.index] if task.index in ordered else None
        for place, module in enumerate(task.modules):
            if module.config is not None:
                later = module.spec.deferred if module.spec else ()
                config = {key: value for key, value in module.config.items() if key not in later}
                scope = _Scope(reading, variables, task, known, has_previous=place > 0)
                yield from _value_problems(config, (*module.pointer, "with"), scope)
    if "output" in document:
        scope = _Scope(reading, variables, None, None, has_previous=False)
        yield from _value_problems(document["output"], ("output",), scope)


def _value_problems(value: Any, pointer: Pointer, scope: "_Scope") -> Iterator[Problem]:
    template, mistakes = inspect_template(value)
    for mistake in mistakes:
        yield problem((*pointer, *mistake.pointer), mistake.code, mistake.message)
    for place, reference in dict.fromkeys(template.located):
        found = scope.mistake(reference)
        if found is not None:
            yield problem((*pointer, *place), *found)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a template may refer to where it stands."""

    reading: BodyReading
    variables: Mapping[str, Any]
    task: TaskEntry | None  # None for the output, which is rendered when all is done
    before: int | None  # bits of the tasks done before; None when that cannot be known
    has_previous: bool

    def mistake(self, reference: Reference) -> Mistake | None:
        """What is wrong with a reference, if anything."""
        root, names = reference[0], reference[1:]
        if root == "tasks":
            return self._task(names)
        if root == "vars" and names and names[0] not in self.variables:
            hint = did_you_mean(names[0], self.variables) or '; add it under "variables"'
            return "unknown_variable", f'the workflow declares no variable "{names[0]}"{hint}'
        if root == "execution" and names and names[0] not in EXECUTION_ATTRIBUTES:
            return _unknown_attribute("execution", names[0], EXECUTION_ATTRIBUTES)
        if root == "previous" and not self.has_previous:
            sentence = '"previous" is the module before in the same task; there is none here'
            return "no_previous", sentence
        return None if root in ROOTS else _unknown_name(root)

    def _task(self, names: Reference) -> Mistake | None:
        if not names:
            sentence = (
                '"tasks" must be followed by the id of a task, written out, such as '
                "tasks.fetch.output: what a step reads is found before it runs"
            )
            return "dynamic_reference", sentence
        task_id = names[0]
        if task_id not in self.reading.by_id:
            return "unknown_task", f'there is no task "{task_id}"{self._task_hint(task_id)}'
        late = self._not_before(task_id)
        if late is None and len(names) > 1 and names[1] not in TASK_ATTRIBUTES:
            return _unknown_attribute(f"tasks.{task_id}", names[1], TASK_ATTRIBUTES)
        return late

    def _task_hint(self, task_id: str) -> str:
        """`tasks.my-task` reads as a subtraction; say how to write it."""
        dashed = next(
            (other for other in self.reading.by_id if other.startswith(f"{task_id}-")), ""
        )
        if dashed:
            return f'; an id with a dash is written tasks["{dashed}"]'
        return did_you_mean(task_id, self.reading.by_id)

    def _not_before(self, task_id: str) -> Mistake | None:
        if self.task is None:
            return None
        if task_id == self.task.id:
            return "task_not_before", f'"{task_id}" is the task itself, which is not done yet'
        if self.before is None or self.before >> self.reading.by_id[task_id] & 1:
            return None
        sentence = (
            f'"{task_id}" may not be done when "{self.task.id}" starts: '
            f'no edges lead from "{task_id}" to "{self.task.id}"'
        )
        return "task_not_before", sentence


def _unknown_attribute(owner: str, name: str, known: tuple[str, ...]) -> Mistake:
    hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
    return "unknown_attribute", f'"{owner}" has no "{name}"{hint}'


def _unknown_name(name: str) -> Mistake:
    if name in UNSUPPORTED_NAMES:
        return "not_supported_yet", not_supported(name, UNSUPPORTED_NAMES[name])
    hint = did_you_mean(name, ROOTS) or f"; there are {', '.join(ROOTS)}"
    return "unknown_name", f'templates know no "{name}"{hint}'
