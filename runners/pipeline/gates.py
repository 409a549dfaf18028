"""Gates may hold a step back before its module runs: a spent budget, a quota, an open circuit.

Those who have one register it. A gate is asked after the run was claimed and its secrets read, with
no lock held. It lets the step through, for nothing or with a permit that hears how the step ended;
or gives a Wait, in which the run sleeps without using an attempt and is asked about again; or
raises StepError.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from runners.failures.classification import Failure
from runners.modules.base import Module, Wait
from runners.secrets.scrubbing import Scrubber
from runners.segment.context import SegmentContext
from runners.segment.work import Work

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A step that wants to run; `inputs` are its validated ones, if its module has a circuit.

    `credential` are the fields of the one it names. `scrub` takes the values of the step's secrets
    out of texts, where it uses some.
    """

    context: SegmentContext
    work: Work
    module: Module[Any]
    inputs: Any
    scrub: Scrubber | None
    credential: Mapping[str, str] | None = None


class Permit(Protocol):
    """What a gate gave; one of these is called once, unless the process dies before.

    `timeout` is how many seconds a call of the step's target may take, where somebody said so.
    """

    @property
    def timeout(self) -> float | None:
        """In seconds; None where the gate says nothing of it."""

    def undo(self) -> None:
        """Another gate held the step back: it did not run."""

    def ended(self, failure: Failure | None) -> None:
        """The module ran; `failure` is how it ended, None where it did well."""


Gate = Callable[[Asked], Permit | Wait | None]


@dataclass(frozen=True, slots=True)
class Passage:
    """What the gates gave for one step."""

    permits: tuple[Permit, ...] = ()

    @property
    def timeout(self) -> float | None:
        """How many seconds a call of the step's target may take, where somebody said so."""
        return next((p.timeout for p in self.permits if p.timeout is not None), None)

    def ended(self, failure: Failure | None) -> None:
        """Tell them how it ended; a gate's own trouble never costs the step its result."""
        for permit in reversed(self.permits):
            try:
                permit.ended(failure)
            except Exception:
                log.exception("a gate could not note how a step ended")

    def undo(self) -> None:
        """Tell them that the step did not run."""
        for permit in reversed(self.permits):
            try:
                permit.undo()
            except Exception:
                log.exception("a gate could not take back what it gave")


class Stage(IntEnum):
    """When a gate is asked: what refuses a step first, what its target is like last."""

    REFUSE = 1
    HOLD = 2
    TARGET = 3


OPEN = Passage()
_gates: list[Gate] = []
_stages: dict[Gate, Stage] = {}


def register(gate: Gate, stage: Stage = Stage.TARGET) -> None:
    """Ask this gate too, after those of its stage; call it in `AppConfig.ready`."""
    _stages.setdefault(gate, stage)
    _gates[:] = sorted(_stages, key=lambda known: _stages[known])


def ask(asked: Asked) -> Passage | Wait:
    """Ask every gate: a passage if all let the step through. Raises what a gate raises."""
    permits: list[Permit] = []
    for gate in _gates:
        try:
            answer = gate(asked)
        except BaseException:
            Passage(tuple(permits)).undo()
            raise
        if isinstance(answer, Wait):
            Passage(tuple(permits)).undo()
            return answer
        if answer is not None:
            permits.append(answer)
    return Passage(tuple(permits)) if permits else OPEN
