"""Find the waiting runs whose event name and filter match an event.

A filter is rendered in the scope of its step, with the payload as `event`. The data of a batch of
filters is loaded together. A filter with an error does not match, and the error is written to the
run's log. Each filter has the budget of a web process, in every process. All filters of one request
or message share an allowance, because each process evaluates filters of all workspaces.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Step
from executions.definition.graph.places import Place, find
from executions.definition.templates import RenderBudget, Template, TemplateError
from executions.definition.templating.budget import WEB
from executions.definition.templating.render_guard import Allowance, TimeSpent
from executions.definition.versions import Compiled, compiled
from executions.sealing.sealer import opened, opened_results, opened_variables
from runners import statements
from runners.failures.failure_text import storable_text
from runners.modules.flow import truth
from runners.segment import stored_results, template_data
from runners.segment.context import SegmentContext
from runners.segment.template_data import TemplateData
from runners.waits import stored_payloads

BATCH = 500
# Maximum runs whose data is in memory at once, because filters may read payloads of 1 MiB.
LOADED = 50
FILTER = "filter"
# Number of filter failures that are kept with a run, and the maximum length of each.
NOTES, NOTE_LENGTH = 20, 500

Pair = tuple[UUID, UUID]  # run, execution


@dataclass(frozen=True, slots=True)
class Listener:
    """A run that waits for an event, and its step."""

    run_id: UUID
    execution_id: UUID
    version: Compiled
    place: Place
    step: Step
    path: str
    attempt: int

    @property
    def filter(self) -> Template | None:
        """Return the filter of events; None if the run accepts every event with the name."""
        return self.step.deferred.get(FILTER)


@dataclass(frozen=True, slots=True)
class EventTarget:
    """An event or a signal; with `execution_id`, only this execution's runs can receive it.

    With `before`, only runs that began to wait earlier can.
    """

    workspace_id: UUID
    name: str
    payload: Any
    before: datetime | None = None
    execution_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The matches of a batch; `over` is true if time ran out before all filters were evaluated.

    `last` is the ID of the last run whose filter was evaluated, or None.
    """

    pairs: list[Pair]
    over: bool = False
    last: UUID | None = None


def listeners(call: EventTarget, after: UUID | None = None) -> Iterator[list[Listener]]:
    """Yield the runs after the ID `after` that may receive the event, in batches ordered by ID."""
    after = after or UUID(int=0)
    values: dict[str, Any] = {
        "name": call.name,
        "workspace": call.workspace_id,
        "before": call.before,
        "batch": BATCH,
    }
    name = "listeners"
    if call.execution_id is not None:
        name, values["execution"] = "listeners_in", call.execution_id
    while True:
        rows = statements.fetch(name, values | {"after": after})
        if rows:
            yield [_listener(*row) for row in rows]
        if len(rows) < BATCH:
            return
        after = rows[-1][0]


def meant(found: Sequence[Listener], payload: Any, allowance: Allowance) -> list[Pair]:
    """Return the runs of one batch that have no filter, or whose filter matches.

    Raises TimeSpent if the filters take longer than the allowance.
    """
    decided = decide(found, payload, allowance)
    if decided.over:
        raise TimeSpent
    return decided.pairs


def decide(found: Sequence[Listener], payload: Any, allowance: Allowance) -> Decided:
    """Return the matches among `found`; if time runs out, only the matches found so far.

    Raises PayloadStoreUnavailable if a stored payload cannot be loaded for the filters. Call this
    function outside any transaction.
    """
    plain = [listener for listener in found if listener.filter is None]
    choosy = [listener for listener in found if listener.filter is not None]
    if choosy:
        payload = stored_payloads.for_filters(choosy[0].version.workspace_id, payload)
    chosen: list[Listener] = []
    last: UUID | None = None
    over = False
    for first in range(0, len(choosy), LOADED):
        try:
            for listener, passes in _judged(choosy[first : first + LOADED], payload, allowance):
                last = listener.run_id
                chosen += [listener] if passes else []
        except TimeSpent:
            over = True
            break
    pairs = [(listener.run_id, listener.execution_id) for listener in (*plain, *chosen)]
    return Decided(pairs, over, last)


def _listener(
    run_id: UUID, execution_id: UUID, version_id: UUID, path: str, attempt: int
) -> Listener:
    version = compiled(version_id)
    place, step = find(version.graph, path)
    return Listener(run_id, execution_id, version, place, step, path, attempt)


def _judged(
    found: Sequence[Listener], payload: Any, allowance: Allowance
) -> Iterator[tuple[Listener, bool]]:
    """Yield each listener, and whether its filter matches."""
    failures: dict[UUID, str] = {}
    try:
        for listener, data in _loaded(found):
            assert listener.filter is not None
            passes = False
            with allowance.rendering():
                try:
                    scope = data.scope(listener.step, listener.attempt, stored=False)
                    stored_results.refuse(listener.filter.references, scope)
                    scope["event"] = payload
                    budget = RenderBudget(profile=WEB)
                    passes = truth(listener.filter.render(scope, budget))
                except TemplateError as error:
                    text = f"The filter failed, so the event did not wake the step: {error}"
                    failures[listener.run_id] = data.context.sealer.text(
                        storable_text(text, NOTE_LENGTH), "logs", data.path(listener.step)
                    )
            yield listener, passes
    finally:
        if failures:
            _note(found, failures)


def _loaded(found: Sequence[Listener]) -> list[tuple[Listener, TemplateData]]:
    """Return each listener with the data of its filter, loaded together."""
    facts = _facts(found)
    made = []
    for listener in found:
        if listener.execution_id not in facts:
            continue
        epoch, priority, started_at, payload, variables = facts[listener.execution_id]
        context = SegmentContext(
            listener.execution_id,
            listener.version,
            epoch,
            priority,
            started_at=started_at,
            input=payload,
        )
        data = TemplateData(context, listener.place, variables or {})
        made.append((listener, data))
    _load_results(made)
    _load_items(made)
    return made


def _facts(found: Iterable[Listener]) -> dict[UUID, tuple[Any, ...]]:
    steps = [listener.step for listener in found]
    rows = statements.fetch(
        "listener_executions",
        {
            "executions": list({listener.execution_id for listener in found}),
            "want_input": any(step.reads_input for step in steps),
            "want_vars": any(step.reads_vars for step in steps),
        },
    )
    return {
        execution_id: (
            *facts,
            opened(execution_id, payload, "trigger_payload"),
            opened_variables(execution_id, variables),
        )
        for execution_id, *facts, payload, variables in rows
    }


def _load_results(made: Sequence[tuple[Listener, TemplateData]]) -> None:
    wanted = [
        (listener.execution_id, path)
        for listener, data in made
        for path in template_data.missing(data, listener.step)
    ]
    if not wanted:
        return
    rows = statements.fetch(
        "listener_results",
        {
            "executions": [execution for execution, _ in wanted],
            "paths": [path for _, path in wanted],
        },
    )
    known: dict[UUID, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for execution_id, *row in rows:
        [known[execution_id][row[0]]] = opened_results(execution_id, [tuple(row)])
    for listener, data in made:
        paths = template_data.missing(data, listener.step)
        results = known[listener.execution_id]
        data.learn([results[path] for path in paths if path in results])


def _load_items(made: Sequence[tuple[Listener, TemplateData]]) -> None:
    """Load the items of each map together, because each query unpacks the map's whole list."""
    sharing: dict[tuple[UUID, str], list[TemplateData]] = defaultdict(list)
    for listener, data in made:
        place = listener.place.nearest("map") if listener.step.reads_item else None
        if place is not None:
            sharing[listener.execution_id, place.holder].append(data)
    for all_data in sharing.values():
        places = [data.place.nearest("map") for data in all_data]
        first, *others = all_data
        with suppress(TemplateError):  # a filter that reads a stored item fails later
            template_data.load_items(
                first, sorted({place.index for place in places if place is not None})
            )
        for data in others:
            data.items = first.items


def _note(found: Sequence[Listener], failures: dict[UUID, str]) -> None:
    executions = {one.run_id: one.execution_id for one in found}
    statements.fetch(
        "log_filter_failures",
        {
            "executions": [executions[run_id] for run_id in failures],
            "runs": list(failures),
            "messages": list(failures.values()),
            "most": NOTES,
        },
    )
