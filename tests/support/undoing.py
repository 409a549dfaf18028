"""The steps that an execution had to undo, derived from its definition and the runs that
succeeded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeVar

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.interpreter import modules

T = TypeVar("T")
PARTS = re.compile(r"(.*\]\.|)([^.]+)\.([^.]+)")
INDEX = re.compile(r"\[\d+\]")


def is_undo(path: str) -> bool:
    """Return whether a step path is that of an undo step."""
    return "undo:" in path


def without(by_path: Mapping[str, T]) -> dict[str, T]:
    """Return the entries of the workflow's own steps."""
    return {path: value for path, value in by_path.items() if not is_undo(path)}


def due(document: Mapping[str, Any], runs: Iterable[Run]) -> list[str]:
    """Return the undo of every task whose last step succeeded in the execution, the newest
    first.
    """
    last = dict(_with_undo(document, ""))
    found = []
    succeeded = [run for run in runs if run.state == "SUCCESS" and run.cached_from is None]
    for run in sorted(succeeded, key=lambda run: (run.finished_at, run.pk), reverse=True):
        if is_undo(run.step_path):
            continue
        parts = PARTS.fullmatch(run.step_path)
        assert parts is not None
        place, name, module = parts.groups()
        if last.get(INDEX.sub("", place) + name) == module:
            found.append(f"{place}undo:{name}.main")
    return found


def problems(execution: WorkflowExecution, runs: Mapping[str, list[Run]]) -> Iterator[str]:
    """Yield the errors in an execution's undo steps; `runs` are all attempts by step, in order."""
    undone = {path: tries for path, tries in runs.items() if is_undo(path)}
    if not execution.compensation:
        if undone:
            yield f"undid {sorted(undone)} though it is {execution.state}"
        return
    order = due(execution.version.definition, (run for tries in runs.values() for run in tries))
    over = [path for path in order if _over(undone.get(path, []))]
    if over != order[: len(over)]:
        yield f"undid {over}, which is not the beginning of {order}"
    if execution.compensation == "DONE" and over != order:
        yield f"is undone, and did not undo {order[len(over) :]}"
    if set(undone) - set(order):
        yield f"undid {sorted(set(undone) - set(order))}, which did not succeed"
    for path, tries in undone.items():
        if sum(_over([one]) for one in tries) > 1:
            yield f"undid {path} more than once"
    for before, after in pairwise(over):
        ended, begun = undone[before][-1].finished_at, undone[after][0].queued_at
        if ended is None or begun < ended:
            yield f"began {after} before {before} had ended"


def _over(tries: list[Run]) -> bool:
    return bool(tries) and tries[-1].state in {"SUCCESS", "SKIPPED"}


def _with_undo(body: Mapping[str, Any], around: str) -> Iterator[tuple[str, str]]:
    """Yield each task with an undo, with the containers around it, and its last module."""
    for task in body["tasks"]:
        if "undo" in task:
            yield f"{around}{task['id']}", modules(task)[-1]["id"]
        if "body" in task:
            yield from _with_undo(task["body"], f"{around}{task['id']}.")
