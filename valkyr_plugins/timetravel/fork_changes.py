"""The changes of a fork, their permissions, and the approvals that it requests again."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from executions.public.access import AccessChange, Base
from executions.public.definitions import DefinitionProblem
from executions.public.errors import InvalidPayload, PayloadError, WithProblems
from executions.public.graphs import Compiled, Graph, Place, compiled, find
from executions.public.models import VersionKind, WorkflowExecution
from executions.public.sealing import PayloadSealer
from executions.public.starting import StoredInput, row_of
from executions.public.values import payloads
from runners.public.forks import (
    APPROVAL,
    LATEST,
    PINNED,
    Overrides,
    insert_first,
    keep_changes,
    refuse_other_inputs,
)
from runners.public.models import Run
from runners.public.rendering import merged
from valkyr_plugins.timetravel import restore_points, statements
from valkyr_plugins.timetravel.point_in_time import Point

MAX_NAMED = 100
MAX_VARIABLES_BYTES = 1024 * 1024


class InvalidFork(WithProblems):
    """The fork cannot begin at this point, or its overrides are not valid."""

    code = "invalid_fork"


def changed_variables(
    made: WorkflowExecution,
    variables: dict[str, Any],
    changes: Mapping[str, Any],
    *,
    named: bool,
) -> dict[str, Any]:
    """Return the variables of the fork's version, with the changes merged in.

    `named` says whether errors may name variables. Raises InvalidFork or InvalidPayload.
    """
    declared = compiled(made.version_id).graph.variables
    unknown = sorted(set(changes) - set(declared))
    if unknown:
        known = f"The workflow declares: {', '.join(sorted(declared)) or 'no variables'}."
        raise InvalidFork(
            "The workflow does not declare some variables.",
            [
                DefinitionProblem(
                    f"overrides.variables.{name}",
                    "unknown_variable",
                    known if named else "The workflow does not declare it.",
                )
                for name in unknown[:MAX_NAMED]
            ],
        )
    changed = {name: variables[name] for name in variables if name in declared}
    # Null is a value here, because a declared variable cannot be removed.
    changed |= {
        name: value if value is None else merged(changed.get(name), value)
        for name, value in changes.items()
    }
    try:
        payloads.dump(changed, "variables", MAX_VARIABLES_BYTES)
    except PayloadError as error:
        raise InvalidPayload(
            error.message, [DefinitionProblem("overrides.variables", error.code, error.message)]
        ) from error
    return changed


def override_steps(
    made: WorkflowExecution, steps: Mapping[str, Mapping[str, Any] | StoredInput], *, named: bool
) -> None:
    """Plan the first steps of the fork, with their changed inputs.

    Raises InvalidFork for changed inputs of any other step, and ApprovalNeeded for an approval.
    """
    insert_first(made)
    rows = Run.objects.filter(execution_id=made.pk, state="PENDING")
    ready = {
        path: (pk, module) for path, pk, module in rows.values_list("step_path", "pk", "module")
    }
    unknown = sorted(set(steps) - set(ready))
    if unknown:
        raise InvalidFork(
            "Only the inputs of steps that the fork begins with can be changed.",
            [_not_first(path, ready if named else ()) for path in unknown[:MAX_NAMED]],
        )
    for path in sorted(steps):
        refuse_other_inputs(ready[path][1], path)
    sealer = PayloadSealer(made.pk, made.workspace_id)
    for path, inputs in steps.items():
        text = payloads.dump({"inputs": row_of(inputs)}, f"changed inputs of step {path}")
        sealed = json.loads(sealer.json(text, "overrides", path))
        Run.objects.filter(pk=ready[path][0]).update(overrides=sealed)
    keep_changes([(made.pk, row_of(inputs)) for inputs in steps.values()])


def _not_first(path: str, first: Iterable[str]) -> DefinitionProblem:
    """Return the problem that a step has changed inputs, but the fork does not begin with it.

    `first` contains the steps with which it begins, or is empty if the caller may not see them.
    """
    some = ", ".join(sorted(first)[:10])
    return DefinitionProblem(
        f"overrides.steps.{path}",
        "not_first",
        "The fork does not begin with step "
        f"{path}{f'; it begins with: {some}' if some else ''}. Fork from right before {path} "
        "to change its inputs. After an approval they cannot be changed: the fork begins "
        "with the approval.",
    )


# Describe the difference between a fork or a replay and its origin, for `executions.access`.


def origins() -> QuerySet[WorkflowExecution]:
    """Return all executions, with the columns and versions that `change_of` reads."""
    return WorkflowExecution.objects.select_related("version", "workflow__latest_version").only(
        "id",
        "workspace_id",
        "workflow_id",
        "version__number",
        "version__kind",
        "workflow__latest_version__number",
    )


def change_of(
    origin: WorkflowExecution,
    *,
    inside: bool = False,
    version: str | int = PINNED,
    overrides: Overrides | None = None,
) -> AccessChange:
    """Return how a fork or a replay differs from its origin, which must come from `origins()`.

    A replay has no overrides. Uses no query.
    """
    overrides = overrides or Overrides()
    return AccessChange(
        base=_base(origin, version),
        inside=inside,
        payload=overrides.input is not None,
        variables=bool(overrides.variables),
        steps=bool(overrides.steps),
    )


def _base(origin: WorkflowExecution, wanted: str | int) -> Base:
    latest = origin.workflow.latest_version
    if wanted == LATEST or (latest is not None and wanted == latest.number):
        return Base.LATEST
    ran = origin.version
    tested = ran.kind == VersionKind.TEST
    if wanted == PINNED and tested:
        return Base.TEST
    if wanted == PINNED or (wanted == ran.number and not tested):
        return Base.LATEST if latest is not None and ran.pk == latest.pk else Base.PINNED
    return Base.OTHER


# Find where a fork must request approvals again, because an approval covers only the execution in
# which it was given.
#
# A fork never runs a step under an approval of its origin: it begins just before that approval
# instead.


def asked_again(origin: WorkflowExecution, version: Compiled, point: Point) -> Point:
    """Return the point, or the latest one before it where no step runs under an earlier approval.

    `version` is the version that the fork runs. An approval is kept if all steps after it had ended
    by the point, so that no step runs under it. A step that waited for a child execution counts as
    an approval if a user decided in the child, or if the run from which the step was copied no
    longer exists.
    """
    while True:
        told = restore_points.params(origin, point)
        decided: dict[str, datetime] = dict(statements.fetch("decisions_before_point", told))
        ended: dict[str, bool] = {}
        if decided or version.id != origin.version_id:
            for path, early, began in statements.fetch("ended_before", told):
                ended[path] = early
                if not early and version.id != origin.version_id and _asks(version.graph, path):
                    # The step was not an approval in the origin's version.
                    decided.setdefault(path, began)
        course = Course(version.graph, ended)
        unfinished = [(began, path) for path, began in decided.items() if not course.over(path)]
        if not unfinished:
            return point
        at, path = min(unfinished)
        point = Point(at, f"before {path}", before=path)


class Course:
    """The ended steps of one version; `over` checks whether everything after a step has ended.

    `ended` maps each ended step to whether it ended its task early, by a skip or an error.
    """

    def __init__(self, graph: Graph, ended: Mapping[str, bool]) -> None:
        self._graph = graph
        self._ended = ended
        self._known: dict[tuple[str, int], bool] = {}

    def over(self, path: str) -> bool:
        """Return whether everything after a step has ended, in its body and the enclosing ones.

        Return True for a step that the version lacks: a fork that needs it is rejected elsewhere.
        """
        try:
            place, step = find(self._graph, path)
        except (KeyError, ValueError):
            return True
        return self._over(place, step.task)

    def _over(self, place: Place, task: int) -> bool:
        key = (place.prefix, task)
        if key not in self._known:
            self._known[key] = all(
                self._has_ended(place, other) for other in following(place.graph, task)
            ) and (place.outer is None or self._over(place.outer, place.container))
        return self._known[key]

    def _has_ended(self, place: Place, task: int) -> bool:
        paths = [
            place.prefix + place.graph.steps[step].path for step in place.graph.tasks[task].steps
        ]
        return paths[-1] in self._ended or any(self._ended.get(path) for path in paths)


def following(graph: Graph, task: int) -> set[int]:
    """Return a task, and all tasks of the same body that can be reached from it along edges."""
    found = {task}
    ahead = [task]
    while ahead:
        for edge in graph.tasks[ahead.pop()].outgoing:
            if edge.target not in found:
                found.add(edge.target)
                ahead.append(edge.target)
    return found


def _asks(graph: Graph, path: str) -> bool:
    try:
        _, step = find(graph, path)
    except (KeyError, ValueError):
        return False
    return step.module == APPROVAL
