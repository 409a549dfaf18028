"""The graph under construction: tasks, the scopes of their ids, and blocks of statements.

A *scope* is the workflow, a body, a chain or an undo: templates see the tasks of their scope and of
the enclosing ones. A *block* is a sequence of statements, such as those under one `with when(…)`. A
*line* is a barrier: it runs after everything above it in its block, and before everything below.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.python_workflows.tracing.places import TracingError

SUCCESS = "success"


@dataclass(eq=False, slots=True)
class TracedTask:
    """A task; `document` has all the task's keys except `id`, `join`, `after` and `body`.

    `leads_on` are the outcomes after which readers of the task continue, usually only `success`.
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
        """Return the direct and indirect predecessors of this task, which are in the same scope."""
        found: set[TracedTask] = set()
        pending = [edge.source for edge in self.edges]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += [edge.source for edge in one.edges]
        return found

    def is_open_in(self, block: "Block") -> bool:
        """Return whether the task is in this block or an enclosing one."""
        around: Block | None = block
        while around is not None and around is not self.block:
            around = around.around
        return around is not None

    def goes_on(self) -> "list[TracedEdge]":
        """Return the edges from the task to the tasks below it."""
        return [TracedEdge(self, outcome) for outcome in self.leads_on]


@dataclass(frozen=True, slots=True)
class TracedEdge:
    """The start of an edge: a task, and the outcome (`on`) after which the edge is followed."""

    source: TracedTask
    on: str


@dataclass(eq=False, slots=True)
class TracedScope:
    """The tasks of one scope of ids; `kind` is "", `loop`, `map`, `chain` or `undo`."""

    kind: str = ""
    around: "TracedScope | None" = None
    tasks: list[TracedTask] = field(default_factory=list)
    # Tasks of enclosing scopes that this scope reads.
    outside: set[TracedTask] = field(default_factory=set)
    within: set["TracedScope"] = field(
        default_factory=set
    )  # scopes whose `item` or `loop` this scope reads
    taken: set[str] = field(default_factory=set)

    def scopes(self) -> "Iterator[TracedScope]":
        """Yield this scope and the enclosing ones."""
        scope: TracedScope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def new_id(self, wanted: str) -> str:
        """Reserve and return a free id: the wanted id, with a number if it is taken.

        Ids of enclosing scopes are not free, because a new task would hide them.
        """
        taken = {one for scope in self.scopes() for one in scope.taken}
        number = 1
        while (found := wanted if number == 1 else f"{wanted}_{number}") in taken:
            number += 1
        self.taken.add(found)
        return found

    def named(self, task_id: str) -> TracedTask | None:
        """Return the task that an id names in a template; None if there is none."""
        for scope in self.scopes():
            for task in scope.tasks:
                if task.id == task_id:
                    return task
        return None


@dataclass(eq=False, slots=True)
class TracedFork:
    """A decision whose branches join below: its outcomes, and the ends of the written branches."""

    task: TracedTask
    outcomes: list[str]
    ends: dict[str, list[TracedEdge]] = field(default_factory=dict)

    def exits(self) -> list[TracedEdge]:
        """Return the edges that continue below.

        They come from the branches' ends, and from outcomes without a branch.
        """
        found: list[TracedEdge] = []
        for outcome in self.outcomes:
            found += self.ends.get(outcome, [TracedEdge(self.task, outcome)])
        return found


@dataclass(eq=False, slots=True)
class Block:
    """Consecutive statements. `entry` leads to the tasks after the last barrier, the `segment`.

    With `joins_all`, every edge of the entry must be taken. With `parallel`, no task is a barrier.
    """

    scope: TracedScope
    around: "Block | None" = None
    entry: list[TracedEdge] = field(default_factory=list)
    joins_all: bool = False
    segment: list[TracedTask] = field(default_factory=list)
    fork: TracedFork | None = None
    parallel: bool = False

    def ends(self) -> list[TracedEdge]:
        """Return the edges from the segment's last tasks; the entry if the segment is empty."""
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
        """Return whether no two of these edges exclude each other, so that all must be taken."""
        if not self.segment:
            return self.joins_all
        return len({edge.source for edge in edges}) == len(edges)

    def joined(
        self, entry: Sequence[TracedEdge], joins_all: bool, reads: Sequence[TracedTask]
    ) -> "tuple[list[TracedEdge], bool]":
        """Return the edges of a task that reads these tasks, and whether all edges must be taken.

        The results of closed branches may be missing, so any edge is enough. Raises TracingError if
        a task would follow both a required task and any one of several branches.
        """
        needed = unreached(reads, entry, self)
        own = {done for one in needed if one.block is self for done in (one, *one.before())}
        edges = [edge for one in needed for edge in one.goes_on()]
        sure = all(one.is_open_in(self) and len(one.leads_on) == 1 for one in needed)
        if needed and {edge.source for edge in entry} <= own:
            return edges, sure
        if needed and sure and not (joins_all or len(entry) <= 1):
            raise TracingError(
                f"this runs after one of several branches and also after {needed[0].id!r}, "
                "which edges cannot express; write `then()` above the branches, or pass "
                "`after=`"
            )
        return [*entry, *edges], sure and (joins_all or bool(needed))

    def draw_line(self, entry: list[TracedEdge], *, joins_all: bool = False) -> None:
        """Make all tasks below run after these edges."""
        self.entry, self.joins_all, self.segment, self.fork = entry, joins_all, [], None


def unreached(
    tasks: Iterable[TracedTask], edges: Sequence[TracedEdge], block: Block | None = None
) -> list[TracedTask]:
    """Return the tasks that the edges do not cover, except predecessors of other such tasks.

    The edges cover their sources and all tasks before a source. A task of a branch that is closed
    for `block` might not run, so its predecessors are kept.
    """
    reached: set[TracedTask] = set()
    for edge in edges:
        reached |= {edge.source} | edge.source.before()
    left = [task for task in tasks if task not in reached]
    sure = (task for task in left if block is None or task.is_open_in(block))
    earlier = {one for task in sure for one in task.before()}
    return [task for task in left if task not in earlier]


def refuse_cycle(earlier: TracedTask, later: TracedTask) -> None:
    """Raise TracingError if the later task already precedes the earlier one."""
    if earlier is later or later in earlier.before():
        raise TracingError(
            f"{earlier.id!r} cannot run before {later.id!r}, because it already runs after it"
        )
