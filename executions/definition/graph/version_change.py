"""Decide whether an execution can move to another version of its workflow.

This module does no I/O. Steps are matched by their paths, and renamed tasks by a table of names. An
execution can move if its steps so far could have run in the new version: for example, each step
that waits, is due or is dead exists there, and no new task comes before a task that has started.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from executions.definition.graph.document import CALLBACK_URL
from executions.definition.graph.model import Graph, Step, Task
from executions.definition.graph.places import Place, find, place_of, undoes
from executions.definition.graph.plan import (
    SKIPPED,
    Plan,
    Readiness,
    StepFact,
    StepStatus,
    plan,
    readiness,
    task_outcomes,
)

MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions of a workflow, and the tasks that have different IDs in the new version.

    `names` maps the old path of a task, such as `charge` or `refine.draft`, to its new ID.
    """

    old: Graph
    new: Graph
    number: int  # of the new version, for messages
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReachedStep:
    """A step that an execution has reached, with the status of its newest attempt.

    `held`: a worker is executing it. `due`: a worker will execute it as soon as a worker is free or
    the retry is due. `bound`: it waits, was woken or was tried before, so its module cannot change.
    """

    path: str
    fact: StepFact
    module: str
    held: bool = False
    due: bool = False
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision on whether an execution can move, with the tasks from which it would continue.

    `busy` are the tasks that a worker is executing, and, if there are problems, the due tasks: the
    execution may be able to move once they end. `at` are the live tasks; `starts` are those that
    would start immediately. All three are task paths without iterations, such as `refine.draft`.
    """

    problems: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """Return whether the execution can move now."""
        return not self.problems and not self.busy


def task_place(path: str) -> str:
    """Return a step's task without iterations: `refine.draft` for `refine[2].draft.main`."""
    return ".".join(part.partition("[")[0] for part in path.split(".")[:-1])


def new_path(path: str, names: Mapping[str, str]) -> str:
    """Return the path that a step has in the new version."""
    if not names:
        return path
    *tasks, module = path.split(".")
    place, parts = "", []
    for part in tasks:
        task, bracket, turn = part.partition("[")
        place = f"{place}.{task}" if place else task
        parts.append(names.get(place, task) + bracket + turn)
    return ".".join([*parts, module])


def judge(change: VersionPair, reached: Iterable[ReachedStep]) -> Judgement:
    """Decide whether an execution that has reached these steps can move to the new version."""
    rows = list(reached)
    problems: list[str] = []
    steps: list[tuple[ReachedStep, Place, Step]] = []
    held = any(row.held for row in rows)
    for row in rows:
        # A held step that does not fit is not a problem yet, because it may end before the move.
        found = _counterpart(change, row, [] if row.held else problems)
        if found is not None:
            steps.append((row, *found))
    at, starts = _continue(change, steps, [] if held else problems)
    busy = {task_place(row.path) for row in rows if row.held or (row.due and problems)}
    return Judgement(
        tuple(dict.fromkeys(problems))[:MOST_PROBLEMS],
        tuple(sorted(busy)),
        tuple(sorted(at)),
        tuple(sorted(starts)),
    )


def _counterpart(
    change: VersionPair, row: ReachedStep, problems: list[str]
) -> tuple[Place, Step] | None:
    """Return the row's place and step in the new version, if any; add obstacles to `problems`."""
    task, version = task_place(row.path), f"version {change.number}"
    if undoes(row.path):
        return None
    path = new_path(row.path, change.names)
    found = step_at(change.new, path)
    undone = _undo(change.old, row)
    if found is None:
        if row.fact.status in (StepStatus.LIVE, StepStatus.DEAD):
            is_what = "is a dead letter" if row.fact.status is StepStatus.DEAD else _status(row)
            problems.append(
                f"Step `{task}` {is_what} and does not exist in {version}. Map it to a step of "
                f"{version}, or wait until it ends."
            )
        elif undone:
            problems.append(
                f"Step `{task}` succeeded and has an undo step, but does not exist in {version}: "
                "it could not be undone. Keep the step, or map it."
            )
        return None
    _, step = found
    if row.bound and row.fact.status is StepStatus.LIVE and step.module != row.module:
        problems.append(
            f"Step `{task}` {_status(row)} as {row.module}, but is {step.module} in {version}. "
            "Keep its module, or give the new step another ID."
        )
    if row.fact.status is StepStatus.DEAD and path != row.path:
        problems.append(
            f"Step `{task}` is a dead letter, and has another ID in {version}. Requeue, skip or "
            "discard the dead letter first."
        )
    if undone and step.module_uuid not in change.new.undone:
        problems.append(
            f"Step `{task}` succeeded and has an undo step, but none in {version}: it could not "
            "be undone. Keep the undo step."
        )
    return found


def _status(row: ReachedStep) -> str:
    return "is waiting" if row.bound else "is due"


def _undo(old: Graph, row: ReachedStep) -> bool:
    """Return whether the step succeeded and would be undone in the old version."""
    if not old.undone or row.fact.status is not StepStatus.DONE:
        return False
    found = step_at(old, row.path)
    return found is not None and found[1].module_uuid in old.undone


def step_at(graph: Graph, path: str) -> tuple[Place, Step] | None:
    """Return the place and the step of a path; None if the version has no such step."""
    try:
        return find(graph, path)
    except (KeyError, ValueError):
        return None


# The history must be possible in the new version, in the workflow and in each open iteration.


def _continue(
    change: VersionPair,
    steps: Sequence[tuple[ReachedStep, Place, Step]],
    problems: list[str],
) -> tuple[set[str], set[str]]:
    """Return the live tasks and those that would start; add obstacles to `problems`."""
    facts: dict[str, dict[int, StepFact]] = {"": {}}
    places: dict[str, Place] = {"": Place("", change.new)}
    for row, place, step in steps:
        places[place.prefix] = place
        facts.setdefault(place.prefix, {})[step.index] = row.fact
    at: set[str] = set()
    starts: set[str] = set()
    for prefix, place in places.items():
        known = facts[prefix]
        live = [index for index, fact in known.items() if fact.status is StepStatus.LIVE]
        if not prefix or live:  # other iterations have ended, so nothing is planned there
            at.update(task_place(prefix + place.graph.steps.path(index)) for index in live)
            planned = plan(place.graph, known)
            problems += _impossible(change, place, known, planned)
            if known:
                paths = [prefix + place.graph.steps.path(index) for index in planned.start]
                starts.update(task_place(path) for path in paths)
    return at, starts


def _impossible(
    change: VersionPair, place: Place, facts: Mapping[int, StepFact], planned: Plan
) -> Iterator[str]:
    """Yield the reasons why started tasks of a place would not have started in the new version."""
    graph = place.graph
    outcomes = task_outcomes(graph, facts) | dict.fromkeys(planned.skip, SKIPPED)
    version = f"version {change.number}"
    for number in sorted({graph.steps.task_of[index] for index in facts}):
        task = graph.tasks[number]
        if any(_status_of(facts, index) is StepStatus.SKIPPED for index in task.steps):
            continue
        name = _named(place, task)
        started = [n for n, index in enumerate(task.steps) if index in facts]
        if any(_status_of(facts, index) is not StepStatus.DONE
               for index in task.steps[: started[-1]]):  # fmt: skip
            yield (
                f"Step `{name}` has started, and {version} has another module before it in its "
                "chain. Add the module after it, or as a step of its own."
            )
            continue
        verdict = readiness(task, outcomes)
        if verdict is Readiness.READY:
            continue
        if verdict is Readiness.SKIP:
            yield (
                f"Step `{name}` has started, but would be skipped in {version}: with the results "
                "so far, no connection leads to it."
            )
            continue
        before = [edge.source for edge in task.incoming if edge.source not in outcomes]
        names = ", ".join(f"`{_named(place, graph.tasks[source])}`" for source in before[:3])
        yield (
            f"Step `{name}` has started, and in {version} it comes after {names}, which has not "
            "ended. Map a renamed step to it, or add the step elsewhere."
        )


def _status_of(facts: Mapping[int, StepFact], index: int) -> StepStatus | None:
    fact = facts.get(index)
    return None if fact is None else fact.status


def _named(place: Place, task: Task) -> str:
    return task_place(f"{place.prefix}{task.id}.main")


def name_problems(change: VersionPair) -> list[tuple[str, str]]:
    """Return (old path, reason) for each unusable entry of the table of names."""
    taken: dict[str, str] = {}
    problems = []
    for place, name in change.names.items():
        reason = _name_problem(change, place, name)
        container = new_path(f"{place.rpartition('.')[0]}.main", change.names)
        target = f"{container} {name}"
        if not reason and target in taken:
            reason = f"`{taken[target]}` is mapped to `{name}` too. Map one step to each."
        taken.setdefault(target, place)
        if reason:
            problems.append((place, reason))
    return problems


def _name_problem(change: VersionPair, place: str, name: str) -> str:
    outer, _, task_id = place.rpartition(".")
    old = _body(change.old, outer)
    new = _body(change.new, task_place(new_path(f"{outer}.main", change.names)) if outer else "")
    if old is None or task_id not in old.task_by_id:
        return f"The executions' version has no step `{place}`."
    if new is None or name not in new.task_by_id:
        return f"Version {change.number} has no step `{name}` there."
    if task_id in new.task_by_id:
        return f"Version {change.number} has a step `{task_id}` too, which it continues as."
    if name in old.task_by_id:
        return f"The executions' version has a step `{name}` already."
    if _hands_out(change.old, place):
        return (
            f"Another step reads `tasks.{task_id}.{CALLBACK_URL}`. That address names the step and "
            "may be in use; keep its ID."
        )
    return ""


def _body(graph: Graph, place: str) -> Graph | None:
    """Return the body of the container at `place` (the graph for ""); None if there is no body."""
    if not place:
        return graph
    try:
        return place_of(graph, "".join(f"{name}[0]." for name in place.split("."))).graph
    except KeyError:
        return None


def _hands_out(root: Graph, place: str) -> bool:
    """Return whether a step reads the callback URL of the task at `place`, or of a task in it."""
    return any(
        read == place or read.startswith(f"{place}.") for read in _callbacks(Place("", root))
    )


def _callbacks(place: Place) -> Iterator[str]:
    for step in place.graph.steps:
        for up, number in step.callbacks:
            outer = place.up(up)
            yield _named(outer, outer.graph.tasks[number])
    for task in place.graph.tasks:
        if task.body is not None:
            yield from _callbacks(_inside(place, task))


def _inside(place: Place, task: Task) -> Place:
    assert task.body is not None
    return Place(f"{place.prefix}{task.id}[0].", task.body, place, task.index)
