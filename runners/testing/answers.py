"""Answers that replace the outputs of modules in a test, keyed by task, step path or module type.

The engine runs unchanged; only the module's own work is skipped. A module's inputs are still
rendered and checked, so that mistakes in a `with` are found.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, cast

from executions.definition.graph.model import Graph
from runners.modules.base import Module, Result, StepContext, Wait, as_result

Answers = Mapping[str, Any]
_TURN = re.compile(r"\[\d+\]")


class Turns:
    """Answers for successive calls; the last answer is repeated."""

    def __init__(self, answers: tuple[Any, ...]) -> None:
        if not answers:
            raise ValueError("in_turn() needs at least one answer")
        self._left = list(answers)

    def next(self) -> Any:
        """Return the next answer."""
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


def in_turn(*answers: Any) -> Turns:
    """Return answers for successive calls.

    `in_turn(ConnectionError("down"), {"id": "ch_1"})` fails once, and then succeeds.
    """
    return Turns(answers)


class StandIn:
    """A module whose result a test can replace; everything else behaves as the module does."""

    def __init__(self, module: Module[Any], answers: Answers) -> None:
        self._module = module
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def run(
        self, config: Any, ctx: StepContext, wake: Mapping[str, Any] | None = None
    ) -> Result | Wait:
        """Return the test's answer if there is one for this step; otherwise run the module."""
        key = next(
            (key for key in keys(ctx.step_path, self._module.type) if key in self._answers), ""
        )
        if not key:
            return self._module.run(config, ctx, wake)
        return _given(self._answers[key], self._module.validated(config), ctx)


def wrapped(answers: Answers) -> Callable[[Module[Any]], Module[Any]]:
    """Return a function that wraps a module in a stand-in with these answers."""
    return lambda module: cast("Module[Any]", StandIn(module, answers))


def keys(step_path: str, module_type: str) -> list[str]:
    """Return the keys under which a test can answer a step, the most specific first, the type last.

    The keys of `refine[1].draft.main` also include `refine[1].draft`, `refine.draft` and `draft`.
    """
    plain = _TURN.sub("", step_path)
    task = plain.rpartition(".")[0]
    found = [step_path, step_path.rpartition(".")[0], plain, task, task.rpartition(".")[2]]
    return [*dict.fromkeys(found), module_type]


def check_names(answers: Answers, graphs: Iterable[Graph], types: Iterable[str]) -> None:
    """Raise AssertionError for an answer whose key names no task, no step and no module type."""
    known = set(types)
    for graph in graphs:
        known |= _names(graph, "")
    for name in answers:
        if _TURN.sub("", name) not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise AssertionError(
                f"answers name {name!r}, which is neither a task of the workflow nor a module "
                f"type{hint}"
            )


def _names(graph: Graph, prefix: str) -> set[str]:
    found: set[str] = set()
    for task in graph.tasks:
        found |= {task.id, prefix + task.id}
        found |= {prefix + graph.steps[index].path for index in task.steps}
        if task.body is not None:
            found |= _names(task.body, f"{prefix}{task.id}.")
    return found


def _given(answer: Any, inputs: Any, ctx: StepContext) -> Result | Wait:
    if isinstance(answer, Turns):
        return _given(answer.next(), inputs, ctx)
    if isinstance(answer, BaseException) or (
        isinstance(answer, type) and issubclass(answer, BaseException)
    ):
        raise answer
    if callable(answer):
        return _given(answer(inputs, ctx), inputs, ctx)
    if isinstance(answer, Result | Wait):
        return answer
    return as_result(answer) if isinstance(answer, Mapping) else Result(answer)
