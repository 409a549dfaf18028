"""Rules for templates: each must be valid, and read only values that exist when it is rendered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.document import CALLBACK_URL
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.graph.topology import ancestors, topological_order
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer
from executions.definition.templating.expression import Reference
from executions.definition.templating.secrets import ROOT as SECRETS

# The names that a template may use, depending on its place.


HISTORY = "history"
CALLBACK = "flow.callback"
TASK_ATTRIBUTES = ("output", "outcome", "error", HISTORY)
EXECUTION_ATTRIBUTES = ("id", "startedAt", "attempt", "workflow")
LOOP_ATTRIBUTES = ("index", "iteration", "previous")
ROOTS = ("input", "vars", "tasks", "previous", "execution")
# Names that exist in a body, and the kind of container that provides them.
PLACE_ROOTS = {"item": "map", "index": "map", "loop": "loop"}

Mistake = tuple[str, str]  # code, sentence


@dataclass(frozen=True, slots=True)
class BodyView:
    """A body, as seen by a template in this body or in a nested body.

    `task` is the template's task, or the container around it; None for the output and for a loop's
    condition. `before` is a bit mask of the tasks that end before `task`; None if unknown. `done`
    says that `task` itself has succeeded, as in its undo step.
    """

    body: BodyReading
    task: TaskEntry | None
    before: int | None
    done: bool = False


@dataclass(frozen=True, slots=True)
class TemplateScope:
    """The bodies in which a template's names are resolved, innermost first.

    `elsewhere` maps each task ID to the body that contains it. `between_turns` marks the scope of a
    loop's condition, which is rendered before or after an iteration. `has_event` marks the scope of
    a filter, and `takes_secrets` the scope of values that a module receives only in memory.
    """

    views: tuple[BodyView, ...]
    variables: Mapping[str, Any]
    elsewhere: Mapping[str, BodyReading]
    has_previous: bool = False
    between_turns: bool = False
    has_event: bool = False
    takes_secrets: bool = False

    def mistake(self, reference: Reference) -> Mistake | None:
        """Return the problem of a reference, if any."""
        root, names = reference[0], reference[1:]
        if root == "tasks":
            return self._task(names)
        if root in PLACE_ROOTS:
            return self._place(root, names)
        if root == "vars" and names and names[0] not in self.variables:
            hint = did_you_mean(names[0], self.variables) or '; add it under "variables"'
            return "unknown_variable", f'the workflow declares no variable "{names[0]}"{hint}'
        if root == "execution" and names and names[0] not in EXECUTION_ATTRIBUTES:
            return _unknown_attribute("execution", names[0], EXECUTION_ATTRIBUTES)
        if root == "previous" and not self.has_previous:
            sentence = '"previous" is the previous module of the same task; this is the first'
            return "no_previous", sentence
        known = root in ROOTS or (root == "event" and self.has_event)
        known = known or (root == SECRETS and self.takes_secrets)
        return None if known else self._unknown_name(root)

    def _task(self, names: Reference) -> Mistake | None:
        if not names:
            sentence = (
                '"tasks" must be followed by a literal task id, such as tasks.fetch.output, '
                "because references are resolved before a step runs"
            )
            return "dynamic_reference", sentence
        name, attribute = names[0], names[1] if len(names) > 1 else ""
        view = next((view for view in self.views if name in view.body.by_id), None)
        if view is None:
            return self._unseen(name)
        if attribute == HISTORY:
            return self._history(name, view)
        if attribute == CALLBACK_URL:
            return self._callback_url(name, view)
        late = _not_before(name, view, own=view is self.views[0])
        if late is None and attribute and attribute not in TASK_ATTRIBUTES:
            return _unknown_attribute(f"tasks.{name}", attribute, TASK_ATTRIBUTES)
        return late

    def _unseen(self, name: str) -> Mistake:
        """Return the problem of a task name that the template cannot see."""
        body = self.elsewhere.get(name)
        if body is not None and body.holder is not None:
            sentence = (
                f'"{name}" is inside {body.title} and not visible here; read '
                f'tasks["{body.holder.id}"].output'
            )
            return "task_not_visible", sentence
        return "unknown_task", f'there is no task "{name}"{self._task_hint(name)}'

    def _task_hint(self, name: str) -> str:
        """Return a hint for a message: how to write an ID with a dash, a similar name, or ""."""
        dashed = next((known for known in self._names() if known.startswith(f"{name}-")), "")
        if dashed:
            return f'; an id with a dash is written tasks["{dashed}"]'
        return did_you_mean(name, self._names())

    def _names(self) -> Iterator[str]:
        for view in self.views:
            yield from view.body.by_id

    def _history(self, name: str, view: BodyView) -> Mistake | None:
        """Return the problem of reading a task's history here, if any.

        A task directly in a loop's body can read the history of any task of that body.
        """
        if self.between_turns:
            sentence = (
                "a loop's condition cannot read a history; read it in a task of the body, or "
                "count in a variable"
            )
            return "no_history", sentence
        if self.views[0].done:
            return "no_history", (
                "an undo step cannot read a history, only the outputs of its iteration"
            )
        if view is self.views[0] and view.body.kind in ("loop", None):
            return None
        sentence = (
            f'"{name}" has no history here: only tasks of a loop\'s body have one, for the other '
            "tasks of that body"
        )
        return "no_history", sentence

    def _callback_url(self, name: str, view: BodyView) -> Mistake | None:
        """Return the problem of reading a task's callback URL here, if any."""
        modules = view.body.tasks[view.body.by_id[name]].modules
        if not any(module.type == CALLBACK for module in modules):
            return "no_callback", f'"{name}" has no {CALLBACK_URL}: only a {CALLBACK} has one'
        if self.has_event or self.views[0].task is None or self.views[0].done:
            return "no_callback", f"only the steps of a task can read {CALLBACK_URL}"
        return None

    def _place(self, root: str, names: Reference) -> Mistake | None:
        kind = PLACE_ROOTS[root]
        if not any(view.body.kind in (kind, None) for view in self.views):
            return f"not_in_{kind}", f'"{root}" is known only in the body of a {kind}'
        if root == "loop" and names and names[0] not in LOOP_ATTRIBUTES:
            return _unknown_attribute("loop", names[0], LOOP_ATTRIBUTES)
        return None

    def _unknown_name(self, name: str) -> Mistake:
        if name == SECRETS:
            sentence = (
                '"secrets" cannot be read here, where values are stored or shown: use it only '
                "in the `with` of a module that calls other systems, such as http.request"
            )
            return "secret_here", sentence
        if name == "event":
            sentence = (
                '"event" is known only in filters; "input" is the payload of the event that '
                "started the execution"
            )
            return "not_in_filter", sentence
        kinds = {view.body.kind for view in self.views}
        known = (*ROOTS, *(root for root, kind in PLACE_ROOTS.items() if kind in kinds))
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        return "unknown_name", f'"{name}" is unknown in templates{hint}'


def _not_before(name: str, view: BodyView, *, own: bool) -> Mistake | None:
    task = view.task
    if task is None:
        return None
    if name == task.id and view.done:
        return None
    if name == task.id:
        what = "this task" if own else "the container of this task"
        hint = (
            "; loop.previous has the outputs of the previous iteration"
            if (task.container == "loop" and not own)
            else ""
        )
        return "task_not_before", f'"{name}" is {what}, which has not finished{hint}'
    if view.before is None or view.before >> view.body.by_id[name] & 1:
        return None
    sentence = (
        f'"{name}" may not have finished when "{task.id}" '
        f"{'is undone' if view.done else 'starts'}: "
        f'no path leads from "{name}" to "{task.id}"'
    )
    return "task_not_before", sentence


def _unknown_attribute(owner: str, name: str, known: tuple[str, ...]) -> Mistake:
    hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
    return "unknown_attribute", f'"{owner}" has no "{name}"{hint}'


def template_problems(
    document: Mapping[str, Any], reading: BodyReading, variables: Mapping[str, Any]
) -> Iterator[DefinitionProblem]:
    """Yield the problems of templates in all modules and undo steps, and in the output."""
    walk = _Walk(variables, bodies_by_task(reading))
    yield from walk.body(reading, ())
    if "output" in document:
        scope = walk.scope((BodyView(reading, None, None),))
        yield from value_problems(document["output"], ("output",), scope)


def bodies_by_task(reading: BodyReading) -> dict[str, BodyReading]:
    """Return the body of each task, keyed by task ID; if an ID repeats, the outermost body."""
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
    """Yield the problems of a value's templates; if `scope` is None, only syntax problems."""
    template, mistakes = inspect_template(value)
    for mistake in mistakes:
        yield problem((*pointer, *mistake.pointer), mistake.code, mistake.message)
    for place, reference in dict.fromkeys(template.located if scope else ()):
        found = scope.mistake(reference) if scope else None
        if found is not None:
            yield problem((*pointer, *place), *found)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Checks the templates of all bodies, from the outside in, against the names they can see."""

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
            if task.undo is not None and task.undo.config is not None:
                yield from self._undo(task.undo, (BodyView(body, task, known, done=True), *outer))
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
        # For an unknown module, it is unknown which keys are rendered inside the body.
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

    def _undo(self, undo: ModuleEntry, views: tuple[BodyView, ...]) -> Iterator[DefinitionProblem]:
        takes = undo.spec is None or undo.spec.takes_secrets
        scope = self.scope(views, takes_secrets=takes)
        yield from value_problems(undo.config, (*undo.pointer, "with"), scope)

    def _later(
        self,
        module: ModuleEntry,
        task: TaskEntry,
        views: tuple[BodyView, ...],
        *,
        has_previous: bool,
    ) -> TemplateScope | None:
        """Return the scope of deferred templates, such as a loop's condition; None if unknown."""
        if task.body is not None:
            return self.scope((BodyView(task.body, None, None), *views), between_turns=True)
        waits = module.spec is not None and not module.spec.container
        return self.scope(views, has_previous=has_previous, has_event=True) if waits else None


# Templates that may read only one name, such as a concurrency key or an event's filter.


def single_name_problems(
    value: Any, pointer: Pointer, name: str, code: str, reason: str
) -> Iterator[DefinitionProblem]:
    """Yield the problems of a template that may read only `name`; `reason` says why."""
    template, mistakes = inspect_template(value)
    for mistake in mistakes:
        yield problem((*pointer, *mistake.pointer), mistake.code, mistake.message)
    for root in sorted({reference[0] for reference in template.references} - {name}):
        yield problem(pointer, code, f'"{root}" cannot be read here, only "{name}": {reason}')


# Settings that the schema alone cannot validate.


def settings_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of the concurrency key, which may read only the payload."""
    settings = document.get("settings")
    concurrency = settings.get("concurrency") if isinstance(settings, dict) else None
    key = concurrency.get("key") if isinstance(concurrency, dict) else None
    if isinstance(key, str):
        pointer = ("settings", "concurrency", "key")
        reason = "the key is made before the execution starts"
        yield from single_name_problems(key, pointer, "input", "input_only", reason)


def label_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of labels, which may read only the payload."""
    labels = document.get("labels")
    for name, value in labels.items() if isinstance(labels, dict) else ():
        if isinstance(value, str):
            reason = "labels are made before the execution starts"
            yield from single_name_problems(value, ("labels", name), "input", "input_only", reason)
