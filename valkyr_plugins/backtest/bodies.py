"""Compute the bodies of loops and maps, with the engine's counters and conditions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from executions.public.graphs import Place, Step, split
from runners.public import replaying
from runners.public.models import Run
from runners.public.rendering import SegmentContext
from runners.public.replaying import StepError, TemplateData
from valkyr_plugins.backtest.computed_results import ComputedResults

# The outcomes of a place's tasks, and the step with an unknown result that blocks the place, or "".
PlaceEnd = tuple[dict[int, str], str]


@dataclass(frozen=True, slots=True)
class Bodies:
    """Computes the bodies of loops and maps in one execution; `run` computes one iteration.

    `map` and `loop` raise StepError, TemplateError and PayloadError.
    """

    context: SegmentContext
    results: ComputedResults
    recorded: Mapping[str, list[Run]]
    run: Callable[[Place], PlaceEnd]

    def map(self, first: Place, path: str, given: Mapping[str, Any]) -> tuple[Any, str | None]:
        """Compute the items of a map; `first` is the place of its first item.

        Return the map's output, and the step that makes a result in the body unknown, or None.
        """
        turns = replaying.open_map(first, given)
        if turns is None:
            return [], None
        self.results.lists[path] = given["items"]
        failed: int | None = None
        for index in range(turns.total):
            turn = first.turn(index)
            if failed is not None and not self._is_recorded(turn):
                continue  # a failure stops a map, but items that ran concurrently are compared
            outcomes, _ = self.run(turn)
            if replaying.failed_in(turn, outcomes) and not turn.task.tolerant and failed is None:
                failed = index
        if failed is not None:
            raise self._first_failure(first.turn(failed), "item", failed)
        values = {one: self.results.output(one) for one in replaying.sink_paths(first, turns.total)}
        found = replaying.collected(first, turns.total, values, self._tolerated(first))
        return found, self.results.unknown_below(first)

    def loop(self, first: Place, step: Step, given: Mapping[str, Any]) -> tuple[Any, str | None]:
        """Compute the iterations of a loop; `first` is the place of the first iteration.

        Return the loop's output (None if it cannot be computed), and the step that makes a result
        in the body unknown, or None.
        """
        turns = replaying.open_loop(step, given, partial(self._holds, step, first, ended=False))
        if turns is None:
            return replaying.empty(step), None
        index = 0
        while True:
            turn = first.turn(index)
            outcomes, blocked = self.run(turn)
            if replaying.failed_in(turn, outcomes):
                raise self._first_failure(turn, "iteration", index)
            if blocked or self.results.is_dead_below(first):
                return None, blocked or None
            lost = self.results.unknown_below(first)
            if lost is not None and turns.count is None:
                return None, lost  # the loop's condition may read the unknown result
            turns = type(turns)(index, turns.count, turns.most)
            index += 1
            holds = partial(self._holds, step, turn, ended=True)
            if not replaying.goes_on(step.deferred, turns, holds):
                break
            if turns.count is None and index >= turns.most:
                raise StepError(replaying.too_often(turns.most))
        last = replaying.outputs_of_turn(self._data(first), first.turn(index - 1))
        return replaying.loop_output(step, given, index, last), lost

    def _holds(self, step: Step, turn: Place, key: str, *, ended: bool) -> bool:
        return replaying.holds(self._data(turn), step.deferred[key], key, ended=ended)

    def _data(self, place: Place) -> TemplateData:
        return TemplateData(self.context, place, self.results.variables[-1], source=self.results)

    def _tolerated(self, first: Place) -> list[tuple[str, str, str]]:
        """Return the path, message and class of each failure in a tolerant map's body."""
        if not first.task.tolerant:
            return []
        errors = self.results.errors.items()
        return [(path, *error) for path, error in errors if path.startswith(first.stem)]

    def _first_failure(self, turn: Place, what: str, index: int) -> StepError:
        for path, (message, _) in self.results.errors.items():
            if split(path)[0] == turn.prefix:
                return StepError(f"Step {path} of {what} {index} failed: {message}")
        return StepError(f"The body failed in {what} {index}.")

    def _is_recorded(self, turn: Place) -> bool:
        return any(turn.prefix + path in self.recorded for path in turn.graph.by_path)
