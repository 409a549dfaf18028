"""Assemble the definition of a test run, and locate each problem in the requested definition.

Triggers, the concurrency key and the error workflow are omitted: a user starts a test run manually,
it does not wait for executions with the same key, and its failure starts no workflow.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from executions.definition.catalog import Catalog
from executions.definition.graph.document import SUCCESS
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import (
    BodyReading,
    EdgeEntry,
    TaskEntry,
    count_tasks,
    outcomes_of,
    read_body,
)
from executions.definition.graph.schema import MAX_TASKS, shape_problems
from executions.definition.graph.storable import storage_problems
from executions.definition.graph.trial.request import TrialRequest, asking_problems, stand_in
from executions.definition.graph.trial.section import Section, reads_in, section, section_problems
from executions.definition.templating.errors import Pointer, key_path

LEFT_OUT_SETTINGS = ("concurrency", "onFailure")
MAX_PROBLEMS = 500
UNKNOWN = ("unknown_task", "task_not_visible")
_PLACE = re.compile(r"(tasks|edges)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Trial:
    """The definition to run, the problems of the request, and the origin of each part."""

    document: dict[str, Any]
    problems: tuple[DefinitionProblem, ...] = ()
    places: Mapping[tuple[str, int], str] | None = None  # ("tasks", 0) -> "tasks[3]"
    told_already: frozenset[str] = frozenset()  # paths of reported reads outside the part

    def told(self, found: list[DefinitionProblem]) -> list[DefinitionProblem]:
        """Return the problems of the request and of the document (`found`), without duplicates.

        The paths are those in the requested definition.
        """
        placed = (self._placed(one) for one in found)
        known = self.told_already
        rest = [one for one in placed if one.code not in UNKNOWN or one.path not in known]
        return list(dict.fromkeys([*self.problems, *rest]))

    def _placed(self, one: DefinitionProblem) -> DefinitionProblem:
        match = _PLACE.match(one.path)
        if match is None or self.places is None:
            return one
        place = self.places[match[1], int(match[2])]
        return DefinitionProblem(place + one.path[match.end() :], one.code, one.message)


def trial(document: Mapping[str, Any], catalog: Catalog, asked: TrialRequest) -> Trial:
    """Return the definition of a test run; `document` and `asked` may each have problems."""
    kept = _without_company(document)
    untouched = asked.everything and not asked.pinned
    # A definition beyond the limits is not analysed here; validation reports it.
    if untouched or storage_problems(document) or count_tasks(document) > MAX_TASKS:
        return Trial(kept)
    reading = read_body(document, (), catalog)
    mistakes = list(islice(asking_problems(asked, reading), MAX_PROBLEMS))
    if asked.everything:
        mistakes += shape_problems(document)
    if mistakes:
        return Trial(kept, tuple(mistakes))
    found = section(reading, asked)
    mistakes += section_problems(found, reading, asked)
    made = _Making(reading, asked, found)
    mistakes += made.problems()
    if "output" in kept and made.reads_what_is_left_out(kept["output"]):
        del kept["output"]
    return Trial(kept | made.body(), tuple(mistakes), made.places(), made.reads_of_others())


def _without_company(document: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in document.items() if key != "triggers"}
    settings = kept.get("settings")
    if isinstance(settings, dict):
        kept["settings"] = {k: v for k, v in settings.items() if k not in LEFT_OUT_SETTINGS}
    return kept


@dataclass(frozen=True, slots=True)
class _Making:
    reading: BodyReading
    asked: TrialRequest
    section: Section

    def body(self) -> dict[str, Any]:
        """Return the tasks and edges of the section."""
        tasks = [self._task(task) for task in self._tasks()]
        return {"tasks": tasks, "edges": [edge for _, edge in self._edges()]}

    def places(self) -> dict[tuple[str, int], str]:
        """Return where the section's tasks and edges are in the requested definition or pins."""
        tasks = {("tasks", i): key_path(t.pointer) for i, t in enumerate(self._tasks())}
        edges = {("edges", i): key_path(at) for i, (at, _) in enumerate(self._edges())}
        return tasks | edges

    def problems(self) -> Iterator[DefinitionProblem]:
        """Yield a problem for each pinned task whose outcome is unknown."""
        for task in self._tasks():
            if task.index in self.section.pinned and self._outcome(task) is None:
                names = ", ".join(f'"{one}"' for one in outcomes_of(task) or ())
                message = f'"{task.id}" chooses a branch; set its outcome: {names}'
                yield problem(("pinned", task.id, "outcome"), "outcome_required", message)

    def reads_of_others(self) -> frozenset[str]:
        """Return the paths at which the section reads tasks outside the section.

        `section_problems` reports these reads.
        """
        known, found = self.reading.by_id, self.section
        reads = (read for task in found.running for read in found.reads[task])
        others = (read for read in reads if known.get(read.name, -1) not in found.kept)
        return frozenset(key_path(read.pointer) for read in others if read.name in known)

    def reads_what_is_left_out(self, output: Any) -> bool:
        """Return whether the workflow's output reads tasks outside the section."""
        known, kept = self.reading.by_id, self.section.kept
        reads = reads_in(output, ("output",))
        return any(read.name in known and known[read.name] not in kept for read in reads)

    def _tasks(self) -> list[TaskEntry]:
        return [task for task in self.reading.tasks if task.index in self.section.kept]

    def _task(self, task: TaskEntry) -> dict[str, Any]:
        if task.index in self.section.pinned:
            pin = self.asked.pinned[task.id]
            return stand_in(task, pin, self._outcome(task) or SUCCESS)
        # The edges of `after` are in the document's list of edges. The task at which the run begins
        # loses its `join`, so that any of its edges starts it.
        without = {"after", *(("join",) if task.index == self.section.start else ())}
        return {key: value for key, value in task.document.items() if key not in without}

    def _outcome(self, task: TaskEntry) -> str | None:
        """Return the pinned outcome or its default (see `Pin`); None if a branch has no default."""
        pin = self.asked.pinned[task.id]
        if pin.outcome is not None:
            return pin.outcome
        if not task.gate_outcomes():
            return SUCCESS
        leading = {edge.on for edge in self._natural() if edge.source == task.index}
        return leading.pop() if len(leading) == 1 else None

    def _natural(self) -> Iterator[EdgeEntry]:
        """Yield the section's own edges, except edges to the start or to tasks before the start."""
        kept, begins = self.section.kept, self.section.before | {self.section.start}
        for edge in self.reading.edges:
            if edge.source in kept and edge.target in kept and edge.target not in begins:
                yield edge

    def _edges(self) -> Iterator[tuple[Pointer, dict[str, Any]]]:
        natural = ((edge.pointer, self._written(edge)) for edge in self._natural())
        return chain(natural, self._leading_in())

    def _written(self, edge: EdgeEntry) -> dict[str, Any]:
        on = {"on": edge.on} if edge.stated else {}
        return {"from": edge.from_id, "to": edge.to_id, **on}

    def _leading_in(self) -> Iterator[tuple[Pointer, dict[str, Any]]]:
        """Yield a pointer, and an edge to the start, for each pinned task before the start."""
        start = self.section.start
        if start is None:
            return
        name, given = self.reading.tasks[start].id, self.section.before & self.section.pinned
        for task in self._tasks():
            if task.index in given:
                edge = {"from": task.id, "to": name, "on": self._outcome(task) or SUCCESS}
                yield ("pinned", task.id), edge
