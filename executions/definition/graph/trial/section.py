"""Select the tasks of a test run.

They are the requested tasks and their requirements: the tasks before them and the tasks that they
read. A pinned task has no requirements. A run that begins at a task runs no earlier task, so
required earlier tasks must be pinned.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from executions.definition.graph.document import CALLBACK_URL
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, TaskEntry
from executions.definition.graph.topology import ancestors, topological_order
from executions.definition.graph.trial.request import TrialRequest
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer

# Find the tasks of the workflow itself that a task's templates read, including those in its body.


@dataclass(frozen=True, slots=True)
class Read:
    """A read of a task, and its pointer; `called` says that only the callback URL is read."""

    pointer: Pointer
    name: str
    called: bool = False


def reads_of(task: TaskEntry) -> Iterator[Read]:
    """Yield a task's reads of tasks outside its body, including reads in its undo and its body."""
    inner: Collection[str] = task.body.by_id if task.body is not None else ()
    for module, _ in task.steps:
        later = module.spec.deferred if module.spec is not None else ()
        for key, value in (module.config or {}).items():
            for read in reads_in(value, (*module.pointer, "with", key)):
                if key not in later or read.name not in inner:
                    yield read
    if task.body is not None:
        for one in task.body.tasks:
            yield from (read for read in reads_of(one) if read.name not in inner)


def reads_in(value: object, pointer: Pointer) -> Iterator[Read]:
    """Yield each read of a task in the templates of a value."""
    for place, reference in inspect_template(value)[0].located:
        if reference[0] == "tasks" and len(reference) > 1:
            yield Read((*pointer, *place), reference[1], reference[2:] == (CALLBACK_URL,))


@dataclass(frozen=True, slots=True)
class Section:
    """The tasks of a section, as indexes.

    `kept` are all tasks, and `pinned` are those with pinned results. `before` are the tasks before
    `start`. `missing` maps tasks that must be pinned, but are not, to a task that needs them.
    """

    kept: frozenset[int]
    pinned: frozenset[int]
    before: frozenset[int]
    start: int | None
    missing: Mapping[int, int]
    reads: Mapping[int, Sequence[Read]]

    @property
    def running(self) -> frozenset[int]:
        """Return the tasks that run as written, as indexes."""
        return self.kept - self.pinned


def section(reading: BodyReading, asked: TrialRequest) -> Section:
    """Return the requested section; the tasks that `asked` names must be in `reading`."""
    ways = _Ways(reading)
    start = None if asked.start is None else reading.by_id[asked.start]
    pinned = frozenset(reading.by_id[name] for name in asked.pinned)
    before = ways.leading_to([start]) - {start} if start is not None else frozenset()
    kept = set(_core(ways, reading, asked))
    reads: dict[int, list[Read]] = {}
    missing: dict[int, int] = {}
    pending = sorted(kept)
    while pending:
        task = pending.pop()
        if task in pinned:
            continue
        reads[task] = list(reads_of(reading.tasks[task]))
        wanted = ways.read_before(task, reads[task])
        if task != start:
            wanted |= set(ways.preceding[task])
        for other in wanted - kept:
            if other in before and other not in pinned:
                missing.setdefault(other, task)
            else:
                kept.add(other)
                pending.append(other)
    given = pinned & kept
    return Section(frozenset(kept), given, before, start, missing, reads)


def section_problems(
    found: Section, reading: BodyReading, asked: TrialRequest
) -> Iterator[DefinitionProblem]:
    """Yield problems for missing results, reads of excluded tasks, and an empty section."""
    if asked.up_to is not None and not found.kept:
        message = f'no path leads from "{asked.start}" to "{asked.up_to}", so no task would run'
        yield problem(("upTo",), "no_way", message)
    for index in sorted(found.missing):
        name, needs = reading.tasks[index].id, reading.tasks[found.missing[index]].id
        message = (
            f'a run from "{asked.start}" does not include "{name}", which "{needs}" needs: '
            f'set its output under pinned["{name}"]'
        )
        yield problem(("pinned", name), "not_pinned", message)
    for index in sorted(found.running):
        for read in found.reads[index]:
            other = reading.by_id.get(read.name)
            if other is not None and other not in found.kept and other not in found.missing:
                yield _left_out(read, reading.tasks[index].id)


def _left_out(read: Read, reader: str) -> DefinitionProblem:
    message = (
        f'the test omits "{read.name}", which "{reader}" reads: test a part of the '
        "workflow that contains both"
    )
    return problem(read.pointer, "left_out", message)


def _core(ways: "_Ways", reading: BodyReading, asked: TrialRequest) -> frozenset[int]:
    """Return the requested tasks without their requirements."""
    if asked.everything:
        return ways.ends
    if asked.start is None:
        return frozenset({reading.by_id[str(asked.up_to)]})
    after = ways.following_from([reading.by_id[asked.start]])
    if asked.up_to is None:
        return after
    return after & ways.leading_to([reading.by_id[asked.up_to]])


class _Ways:
    """The edges of a body, which may contain cycles, in both directions."""

    def __init__(self, reading: BodyReading) -> None:
        count = len(reading.tasks)
        self._reading = reading
        self.preceding: list[list[int]] = [[] for _ in range(count)]
        self.following: list[list[int]] = [[] for _ in range(count)]
        for source, target in reading.pairs:
            self.following[source].append(target)
            self.preceding[target].append(source)
        self._order = topological_order(count, reading.pairs)
        self._before = ancestors(count, reading.pairs, self._order)

    @property
    def ends(self) -> frozenset[int]:
        """Return the tasks without outgoing edges, and the tasks on or after a cycle."""
        last = {index for index, ahead in enumerate(self.following) if not ahead}
        return frozenset(last | (set(range(len(self.following))) - set(self._order)))

    def leading_to(self, tasks: Iterable[int]) -> frozenset[int]:
        """Return the given tasks and all their predecessors."""
        return _reached(tasks, self.preceding)

    def following_from(self, tasks: Iterable[int]) -> frozenset[int]:
        """Return the given tasks and all their successors."""
        return _reached(tasks, self.following)

    def read_before(self, task: int, reads: Iterable[Read]) -> set[int]:
        """Return the tasks before `task` that `reads` need; other tasks have no result yet."""
        known = self._reading.by_id
        found = {known[read.name] for read in reads if not read.called and read.name in known}
        return {other for other in found if self._before[task] >> other & 1}


def _reached(tasks: Iterable[int], ways: Sequence[Sequence[int]]) -> frozenset[int]:
    seen, pending = set(tasks), list(tasks)
    while pending:
        for other in ways[pending.pop()]:
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return frozenset(seen)
