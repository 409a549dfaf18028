"""The verdicts on the steps of one execution, recorded while the steps are computed.

This module is pure.
"""

from dataclasses import dataclass, field
from typing import Any

from executions.public.graphs import Compiled, Place, Step, find
from runners.public import replaying
from runners.public.models import Run
from runners.public.rendering import Prepared
from valkyr_plugins.backtest.computed_results import ComputedResults
from valkyr_plugins.backtest.records import RecordedExecution
from valkyr_plugins.backtest.verdicts import (
    BacktestVerdict,
    FieldChange,
    StepVerdict,
    VerdictReason,
    changes,
    is_equal,
)

FAILED_RUN = ("FAILED", "DLQ")


@dataclass(slots=True)
class StepComparison:
    """The verdicts, keyed by step path; `changed` lists the paths with a new or unknown result."""

    verdicts: dict[str, StepVerdict] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def note(
        self,
        path: str,
        step: Step,
        verdict: BacktestVerdict,
        why: VerdictReason | None = None,
        *,
        recorded: str = "",
        detail: str = "",
        found: tuple[FieldChange, ...] = (),
    ) -> None:
        """Record the verdict on a step."""
        self.verdicts[path] = StepVerdict(path, verdict, why, step.module, recorded, detail, found)

    def same(self, path: str, step: Step, recorded: str = "") -> None:
        """Record that a step has the recorded result."""
        self.note(path, step, BacktestVerdict.SAME, recorded=recorded)

    def skipped(self, path: str, step: Step, runs: list[Run]) -> None:
        """Compare a skipped step with its recorded runs; add no verdict if there are none."""
        if runs and runs[-1].state == "SKIPPED":
            self.same(path, step)
        elif runs:
            recorded = runs[-1].outcome
            self._other_path(path, step, VerdictReason.GONE, recorded=recorded)

    def computed(
        self,
        path: str,
        step: Step,
        runs: list[Run],
        outcome: str,
        outputs: Any,
        prepared: Prepared | None = None,
    ) -> None:
        """Compare a successful step with its record; `prepared` contains the inputs of a module."""
        last = runs[-1] if runs else None
        if last is None or last.state == "SKIPPED":
            self._other_path(path, step, VerdictReason.NEW, detail=outcome)
        elif last.state in FAILED_RUN:
            self._other_path(path, step, VerdictReason.OUTCOME, recorded="error", detail=outcome)
        elif last.state != "SUCCESS":
            why = VerdictReason.RESULT_MISSING
            self.note(path, step, BacktestVerdict.NOT_COMPARABLE, why)
        elif (last.outcome or "success") != outcome:
            found = changes(last.outputs, outputs)
            self._other_path(
                path, step, VerdictReason.OUTCOME,
                recorded=last.outcome, detail=outcome, found=found,
            )  # fmt: skip
        elif is_equal(last.outputs, outputs):
            self.same(path, step, last.outcome)
        else:
            self._other_output(path, step, last, outputs, prepared)

    def fails(self, path: str, step: Step, runs: list[Run], message: str) -> None:
        """Record that a step fails, although no recorded attempt failed with these inputs."""
        recorded = runs[-1].outcome if runs else ""
        self._other_path(path, step, VerdictReason.FAILS, recorded=recorded, detail=message[:500])

    def depends(self, path: str, step: Step, source: str) -> None:
        """Record that a step depends on the unknown result of `source`."""
        why = VerdictReason.DEPENDS
        self.note(path, step, BacktestVerdict.NOT_COMPARABLE, why, detail=source)

    def is_unsteady(self, place: Place, step: Step, last: Run) -> bool:
        """Return True only if neither the definition nor earlier results explain a step's inputs.

        The inputs then depend on something else, such as the order of parallel steps.
        """
        reads = set(replaying.reads_of(place, step))
        told = step.reads_item or step.reads_last or step.histories or last.overrides is not None
        if last.config_hash != step.config_hash or told or reads & self.changed:
            return False
        if step.reads_vars:  # any step may write variables
            return not self.changed
        return bool(reads)

    def leftovers(
        self, record: RecordedExecution, version: Compiled, results: ComputedResults
    ) -> None:
        """Add verdicts for recorded steps that have none, except skipped and cancelled steps."""
        source = next(iter(results.unknown.values()), "")
        for path, runs in record.attempts.items():
            last = runs[-1]
            if path in self.verdicts or last.state in ("SKIPPED", "CANCELLED"):
                continue
            if source and _has(version, path):
                verdict, why, detail = (
                    BacktestVerdict.NOT_COMPARABLE, VerdictReason.DEPENDS, source,
                )  # fmt: skip
            else:
                verdict, why, detail = BacktestVerdict.DIFFERENT_PATH, VerdictReason.GONE, ""
            self.verdicts[path] = StepVerdict(
                path, verdict, why, last.module, last.outcome, detail=detail
            )

    def unknown_end(self, source: str) -> None:
        """Record that the execution's end or output depends on the unknown result of `source`."""
        self.verdicts[""] = StepVerdict(
            "", BacktestVerdict.NOT_COMPARABLE, VerdictReason.DEPENDS, detail=source
        )

    def end(self, record: RecordedExecution, ends: str, output: Any) -> None:
        """Compare the execution's final state and output with the record."""
        state = record.execution.state
        if state not in ("SUCCESS", "FAILED"):
            verdict = StepVerdict("", BacktestVerdict.NOT_COMPARABLE, VerdictReason.RESULT_MISSING)
        elif state != ends:
            verdict = StepVerdict(
                "", BacktestVerdict.DIFFERENT_PATH, VerdictReason.OUTCOME,
                recorded=state, detail=ends,
            )  # fmt: skip
        elif ends == "SUCCESS" and not is_equal(record.output, output):
            verdict = StepVerdict(
                "", BacktestVerdict.DIFFERENT_OUTPUT, VerdictReason.OUTPUT,
                changes=changes(record.output, output),
            )  # fmt: skip
        else:
            verdict = StepVerdict("", BacktestVerdict.SAME)
        self.verdicts[""] = verdict

    def _other_path(self, path: str, step: Step, why: VerdictReason, **about: Any) -> None:
        self.changed.add(path)
        self.note(path, step, BacktestVerdict.DIFFERENT_PATH, why, **about)

    def _other_output(
        self, path: str, step: Step, last: Run, outputs: Any, prepared: Prepared | None
    ) -> None:
        """Record a different output; if inputs and config are equal, the module has changed."""
        self.changed.add(path)
        equal = (
            prepared is not None
            and last.inputs_hash == prepared.hash
            and last.config_hash == step.config_hash
        )
        verdict = BacktestVerdict.NOT_COMPARABLE if equal else BacktestVerdict.DIFFERENT_OUTPUT
        why = VerdictReason.MODULE_CHANGED if equal else VerdictReason.OUTPUT
        found = changes(last.outputs, outputs)
        self.note(path, step, verdict, why, recorded=last.outcome, found=found)


def _has(version: Compiled, path: str) -> bool:
    try:
        find(version.graph, path)
    except KeyError:
        return False
    return True
