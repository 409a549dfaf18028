"""What a template may refer to where it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.definition import CALLBACK_URL
from executions.definition.graph.problem import did_you_mean
from executions.definition.graph.reading import BodyReading, TaskEntry
from executions.definition.templating.expression import Reference
from executions.definition.templating.secrets import ROOT as SECRETS

HISTORY = "history"
CALLBACK = "flow.callback"
TASK_ATTRIBUTES = ("output", "outcome", "error", HISTORY)
EXECUTION_ATTRIBUTES = ("id", "startedAt", "attempt", "workflow")
LOOP_ATTRIBUTES = ("index", "iteration", "previous")
ROOTS = ("input", "vars", "tasks", "previous", "execution")
# Names of a body, and the kind of container that gives them.
PLACE_ROOTS = {"item": "map", "index": "map", "loop": "loop"}

Mistake = tuple[str, str]  # code, sentence


@dataclass(frozen=True, slots=True)
class BodyView:
    """One body as a template sees it from its place in it, or in a body within.

    `task` is the template's own, or the container around it; None when all tasks are done.
    `before` are the tasks done before it, as bits; None when that cannot be known.
    """

    body: BodyReading
    task: TaskEntry | None
    before: int | None


@dataclass(frozen=True, slots=True)
class TemplateScope:
    """The bodies a template sees, innermost first: a name means the innermost task that has it.

    `elsewhere` says in which body a task of each id stands. `between_turns` is the scope of a
    loop's condition, which is rendered when an iteration ended or before one begins; `has_event`
    that of a filter; `takes_secrets` that of what a module gets in memory only.
    """

    views: tuple[BodyView, ...]
    variables: Mapping[str, Any]
    elsewhere: Mapping[str, BodyReading]
    has_previous: bool = False
    between_turns: bool = False
    has_event: bool = False
    takes_secrets: bool = False

    def mistake(self, reference: Reference) -> Mistake | None:
        """What is wrong with a reference, if anything."""
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
            sentence = '"previous" is the module before in the same task; there is none here'
            return "no_previous", sentence
        known = root in ROOTS or (root == "event" and self.has_event)
        known = known or (root == SECRETS and self.takes_secrets)
        return None if known else self._unknown_name(root)

    def _task(self, names: Reference) -> Mistake | None:
        if not names:
            sentence = (
                '"tasks" must be followed by the id of a task, written out, such as '
                "tasks.fetch.output: what a step reads is found before it runs"
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
        """No task of that name can be seen from here."""
        body = self.elsewhere.get(name)
        if body is not None and body.holder is not None:
            sentence = (
                f'"{name}" stands in {body.title}, which cannot be seen from here; '
                f'read tasks["{body.holder.id}"].output'
            )
            return "task_not_visible", sentence
        return "unknown_task", f'there is no task "{name}"{self._task_hint(name)}'

    def _task_hint(self, name: str) -> str:
        """`tasks.my-task` reads as a subtraction; say how to write it."""
        dashed = next((known for known in self._names() if known.startswith(f"{name}-")), "")
        if dashed:
            return f'; an id with a dash is written tasks["{dashed}"]'
        return did_you_mean(name, self._names())

    def _names(self) -> Iterator[str]:
        for view in self.views:
            yield from view.body.by_id

    def _history(self, name: str, view: BodyView) -> Mistake | None:
        """Earlier outputs: of the loop's tasks, from within its own body, later tasks included."""
        if self.between_turns:
            sentence = (
                "a loop's condition cannot read a history; let a task of the body read it, or "
                "count in a variable"
            )
            return "no_history", sentence
        if view is self.views[0] and view.body.kind in ("loop", None):
            return None
        sentence = (
            f'"{name}" has no history here: only tasks of a loop\'s body have one, for the other '
            "tasks of that body"
        )
        return "no_history", sentence

    def _callback_url(self, name: str, view: BodyView) -> Mistake | None:
        """Known before the task starts, so that whoever is to call it can be told."""
        modules = view.body.tasks[view.body.by_id[name]].modules
        if not any(module.type == CALLBACK for module in modules):
            return "no_callback", f'"{name}" has no {CALLBACK_URL}: only a {CALLBACK} has one'
        if self.has_event or self.views[0].task is None:
            return "no_callback", f"{CALLBACK_URL} can be read by the steps of a task only"
        return None

    def _place(self, root: str, names: Reference) -> Mistake | None:
        kind = PLACE_ROOTS[root]
        if not any(view.body.kind in (kind, None) for view in self.views):
            return f"not_in_{kind}", f'"{root}" is known in the body of a {kind} only'
        if root == "loop" and names and names[0] not in LOOP_ATTRIBUTES:
            return _unknown_attribute("loop", names[0], LOOP_ATTRIBUTES)
        return None

    def _unknown_name(self, name: str) -> Mistake:
        if name == SECRETS:
            sentence = (
                '"secrets" cannot be read here, where it would be stored or shown: only in the '
                "`with` of a module that works with it outside, such as http.request"
            )
            return "secret_here", sentence
        if name == "event":
            sentence = (
                '"event" is known in filters only; "input" holds the payload of the event that '
                "started the execution"
            )
            return "not_in_filter", sentence
        kinds = {view.body.kind for view in self.views}
        known = (*ROOTS, *(root for root, kind in PLACE_ROOTS.items() if kind in kinds))
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        return "unknown_name", f'templates know no "{name}"{hint}'


def _not_before(name: str, view: BodyView, *, own: bool) -> Mistake | None:
    task = view.task
    if task is None:
        return None
    if name == task.id:
        what = "the task itself" if own else "the task around this body"
        hint = (
            "; loop.previous holds the outputs of the iteration before"
            if (task.container == "loop" and not own)
            else ""
        )
        return "task_not_before", f'"{name}" is {what}, which is not done yet{hint}'
    if view.before is None or view.before >> view.body.by_id[name] & 1:
        return None
    sentence = (
        f'"{name}" may not be done when "{task.id}" starts: '
        f'no edges lead from "{name}" to "{task.id}"'
    )
    return "task_not_before", sentence


def _unknown_attribute(owner: str, name: str, known: tuple[str, ...]) -> Mistake:
    hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
    return "unknown_attribute", f'"{owner}" has no "{name}"{hint}'
