"""Find the calls that a past execution made, and that a step of another version makes again."""

from contextlib import suppress

from executions.public.errors import PayloadError
from executions.public.graphs import Compiled, Step, find
from executions.public.templates import TemplateError
from runners.public.models import Run
from runners.public.rendering import Prepared, prepare
from runners.public.replaying import TemplateData
from valkyr_plugins.backtest.computed_results import ComputedResults
from valkyr_plugins.backtest.records import RecordedExecution

MAX_STATES = 50  # maximum states of the variables that a step may have seen


class RecordedCalls:
    """The recorded attempts of an execution's steps, including steps that the version lacks."""

    def __init__(self, record: RecordedExecution, version: Compiled) -> None:
        self._record, self._version = record, version
        self._elsewhere = self._by_call()

    def of(self, path: str, step: Step) -> list[Run]:
        """Return the attempts at `path` that used the step's module."""
        return [run for run in self._record.attempts.get(path, ()) if run.module == step.module]

    def moved(self, step: Step, prepared: Prepared) -> str | None:
        """Return the recorded path of an identical call, if this version does not have that path.

        Return None if there is no such call. Each recorded call is returned only once.
        """
        found = self._elsewhere.get((step.module, prepared.hash))
        return found.pop(0) if found else None

    def matches(
        self,
        results: ComputedResults,
        data: TemplateData,
        step: Step,
        runs: list[Run],
        prepared: Prepared,
    ) -> bool:
        """Return whether an attempt had these inputs.

        Also tries earlier states of the variables, and the overrides of the attempts.
        """
        hashes = {run.inputs_hash for run in runs if run.inputs_hash}
        if not hashes:
            return False
        if prepared.hash in hashes:
            return True
        states = results.variables[-MAX_STATES:-1][::-1] if step.reads_vars else []
        overrides = [run.overrides for run in runs if run.overrides]
        with suppress(TemplateError, PayloadError):
            for variables in states:
                data.variables = variables
                if prepare(data, step, runs[-1].attempt).hash in hashes:
                    return True
            data.variables = results.variables[-1]
            return any(
                prepare(data, step, runs[-1].attempt, given).hash in hashes for given in overrides
            )
        return False

    def credential_of(self, run: Run) -> str | None:
        """Return the name of a recorded step's credential; "" for none, None if it is unknown."""
        try:
            return find(self._record.version.graph, run.step_path)[1].credential
        except KeyError:
            return None

    def _by_call(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path, runs in self._record.attempts.items():
            try:
                find(self._version.graph, path)
            except KeyError:
                for key in {(run.module, run.inputs_hash) for run in runs if run.inputs_hash}:
                    found.setdefault(key, []).append(path)
        return found
