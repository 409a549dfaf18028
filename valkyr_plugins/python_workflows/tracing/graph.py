"""The graph under construction: tasks, the scopes they have their ids in, and blocks of lines.

A *scope* is the workflow, a body, or a chain: templates see the tasks of theirs and of those
around. A *block* is a run of lines in a scope, such as those under one `with when(…)`. A *line* is
what comes after all that stands above it in its block, and before all that stands below.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.python_workflows.tracing.places import TracingError

SUCCESS = "success"


@dataclass(eq=False, slots=True)
class TracedTask:
    """A task; `document` is all of it but id, name, edges and body.

    `leads_on` are the outcomes on which what reads it goes on, mostly `success` alone.
    """

    id: str
    scope: "TracedScope"
    place: str
    document: dict[str, Any] = field(default_factory=dict)
    leads_on: tuple[str, ...] = (SUCCESS,)
    edges: "list[TracedEdge]" = field(default_factory=list)
    join: str = ""
    body: "TracedScope | None" = None
    block: "Block | None" = None

    def before(self) -> "set[TracedTask]":
        """All tasks of its scope that end before it starts."""
        found: set[TracedTask] = set()
        pending = [edge.source for edge in self.edges]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += [edge.source for edge in one.edges]
        return found

    def is_open_in(self, block: "Block") -> bool:
        """Whether it stands in this block, or one around it."""
        around: Block | None = block
        while around is not None and around is not self.block:
            around = around.around
        return around is not None

    def goes_on(self) -> "list[TracedEdge]":
        """Edges from it to what follows."""
        return [TracedEdge(self, outcome) for outcome in self.leads_on]


@dataclass(frozen=True, slots=True)
class TracedEdge:
    """From a task that ended with an outcome."""

    source: TracedTask
    on: str


@dataclass(eq=False, slots=True)
class TracedScope:
    """Tasks with ids of their own; `kind` is "", `loop`, `map`, `chain` or `undo`."""

    kind: str = ""
    around: "TracedScope | None" = None
    tasks: list[TracedTask] = field(default_factory=list)
    outside: set[TracedTask] = field(default_factory=set)  # read from here, of scopes around
    within: set["TracedScope"] = field(
        default_factory=set
    )  # whose `item` or `loop` is read from here
    taken: set[str] = field(default_factory=set)

    def scopes(self) -> "Iterator[TracedScope]":
        """This scope and those around it."""
        scope: TracedScope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def new_id(self, wanted: str) -> str:
        """A free id: the wanted one, or numbered. One that a scope around has would hide that."""
        taken = {one for scope in self.scopes() for one in scope.taken}
        number = 1
        while (found := wanted if number == 1 else f"{wanted}_{number}") in taken:
            number += 1
        self.taken.add(found)
        return found

    def named(self, task_id: str) -> TracedTask | None:
        """The task that a template means by an id."""
        for scope in self.scopes():
            for task in scope.tasks:
                if task.id == task_id:
                    return task
        return None


@dataclass(eq=False, slots=True)
class TracedFork:
    """A decision whose branches meet again below: the outcomes, and the ends of those written."""

    task: TracedTask
    outcomes: list[str]
    ends: dict[str, list[TracedEdge]] = field(default_factory=dict)

    def exits(self) -> list[TracedEdge]:
        """What leads on below: the branches' ends, and the outcomes that have no branch."""
        found: list[TracedEdge] = []
        for outcome in self.outcomes:
            found += self.ends.get(outcome, [TracedEdge(self.task, outcome)])
        return found


@dataclass(eq=False, slots=True)
class Block:
    """Lines under each other. `entry` leads to what stands after the last line; `segment` is that.

    `joins_all`: every edge of the entry must be taken. `parallel`: its lines do not wait.
    """

    scope: TracedScope
    around: "Block | None" = None
    entry: list[TracedEdge] = field(default_factory=list)
    joins_all: bool = False
    segment: list[TracedTask] = field(default_factory=list)
    fork: TracedFork | None = None
    parallel: bool = False

    def ends(self) -> list[TracedEdge]:
        """What leads on from the last tasks of the block."""
        if not self.segment:
            return list(self.entry)
        followed = {
            edge.source
            for task in self.segment
            for edge in task.edges
            if edge.on in edge.source.leads_on
        }
        return [edge for task in self.segment if task not in followed for edge in task.goes_on()]

    def needs_all(self, edges: Sequence[TracedEdge]) -> bool:
        """Whether all these ends must be taken, as none of them excludes another."""
        if not self.segment:
            return self.joins_all
        return len({edge.source for edge in edges}) == len(edges)

    def joined(
        self, entry: Sequence[TracedEdge], joins_all: bool, reads: Sequence[TracedTask]
    ) -> "tuple[list[TracedEdge], bool]":
        """The edges of a task that reads these, and whether all of them must be taken.

        Results of branches that are closed may be there or not, so that any edge will do. Raises
        TracingError where some must be there beside one of several.
        """
        needed = unreached(reads, entry, self)
        own = {done for one in needed if one.block is self for done in (one, *one.before())}
        edges = [edge for one in needed for edge in one.goes_on()]
        sure = all(one.is_open_in(self) and len(one.leads_on) == 1 for one in needed)
        if needed and {edge.source for edge in entry} <= own:
            return edges, sure
        if needed and sure and not (joins_all or len(entry) <= 1):
            raise TracingError(
                f"this comes after one of several branches and after {needed[0].id!r} too, which "
                "no edges can say; write `then()` above the branches, or give `after=`"
            )
        return [*entry, *edges], sure and (joins_all or bool(needed))

    def draw_line(self, entry: list[TracedEdge], *, joins_all: bool = False) -> None:
        """Let what is written from here on come after these."""
        self.entry, self.joins_all, self.segment, self.fork = entry, joins_all, [], None


def unreached(
    tasks: Iterable[TracedTask], edges: Sequence[TracedEdge], block: Block | None = None
) -> list[TracedTask]:
    """Those of the tasks that no edge's source is or comes after, without those before others.

    A task of a branch that is closed for `block` may not run, so that what is before it stays.
    """
    reached: set[TracedTask] = set()
    for edge in edges:
        reached |= {edge.source} | edge.source.before()
    left = [task for task in tasks if task not in reached]
    sure = (task for task in left if block is None or task.is_open_in(block))
    earlier = {one for task in sure for one in task.before()}
    return [task for task in left if task not in earlier]


def refuse_cycle(earlier: TracedTask, later: TracedTask) -> None:
    """Raise TracingError where the later one comes before the earlier one already."""
    if earlier is later or later in earlier.before():
        raise TracingError(
            f"{earlier.id!r} cannot come before {later.id!r}, which it comes after already"
        )
