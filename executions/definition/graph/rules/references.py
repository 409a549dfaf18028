"""Templates can be read, and refer only to what will be there when they are rendered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.graph.rules.scopes import BodyView, TemplateScope
from executions.definition.graph.topology import ancestors, topological_order
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer


def template_problems(
    document: Mapping[str, Any], reading: BodyReading, variables: Mapping[str, Any]
) -> Iterator[DefinitionProblem]:
    """Every mistake in the templates of all tasks' modules, at any depth, and of the output."""
    walk = _Walk(variables, bodies_by_task(reading))
    yield from walk.body(reading, ())
    if "output" in document:
        scope = walk.scope((BodyView(reading, None, None),))
        yield from value_problems(document["output"], ("output",), scope)


def bodies_by_task(reading: BodyReading) -> dict[str, BodyReading]:
    """The body in which a task of each id stands; of several the outermost, then the first."""
    found: dict[str, BodyReading] = {}
    level = [reading]
    while level:
        for body in level:
            for name in body.by_id:
                found.setdefault(name, body)
        level = [task.body for body in level for task in body.tasks if task.body is not None]
    return found


def value_problems(
    value: Any, pointer: Pointer, scope: TemplateScope | None
) -> Iterator[DefinitionProblem]:
    """The mistakes in a value's templates; without a scope, those of their text alone."""
    template, mistakes = inspect_template(value)
    for mistake in mistakes:
        yield problem((*pointer, *mistake.pointer), mistake.code, mistake.message)
    for place, reference in dict.fromkeys(template.located if scope else ()):
        found = scope.mistake(reference) if scope else None
        if found is not None:
            yield problem((*pointer, *place), *found)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through the bodies from the outside in, with what each template can see."""

    variables: Mapping[str, Any]
    elsewhere: Mapping[str, BodyReading]

    def scope(self, views: tuple[BodyView, ...], **more: bool) -> TemplateScope:
        return TemplateScope(views, self.variables, self.elsewhere, **more)

    def body(self, body: BodyReading, outer: tuple[BodyView, ...]) -> Iterator[DefinitionProblem]:
        order = topological_order(len(body.tasks), body.pairs)
        before = ancestors(len(body.tasks), body.pairs, order)
        ordered = set(order)
        for task in body.tasks:
            known = before[task.index] if task.index in ordered else None
            views = (BodyView(body, task, known), *outer)
            for place, module in enumerate(task.modules):
                yield from self._module(module, task, views, has_previous=place > 0)
            if task.body is not None:
                yield from self.body(task.body, views)

    def _module(
        self,
        module: ModuleEntry,
        task: TaskEntry,
        views: tuple[BodyView, ...],
        *,
        has_previous: bool,
    ) -> Iterator[DefinitionProblem]:
        if module.config is None:
            return
        # Of a module nobody knows, it cannot be told which keys see the body.
        guessing = module.spec is None and task.body is not None
        takes = module.spec is None or module.spec.takes_secrets
        now = (
            None if guessing else self.scope(views, has_previous=has_previous, takes_secrets=takes)
        )
        later = self._later(module, task, views, has_previous=has_previous)
        deferred = module.spec.deferred if module.spec is not None else ()
        for key, value in module.config.items():
            scope = later if key in deferred else now
            yield from value_problems({key: value}, (*module.pointer, "with"), scope)

    def _later(
        self,
        module: ModuleEntry,
        task: TaskEntry,
        views: tuple[BodyView, ...],
        *,
        has_previous: bool,
    ) -> TemplateScope | None:
        """The scope of what is rendered later: a loop's condition, or else a filter of events."""
        if task.body is not None:
            return self.scope((BodyView(task.body, None, None), *views), between_turns=True)
        waits = module.spec is not None and not module.spec.container
        return self.scope(views, has_previous=has_previous, has_event=True) if waits else None
