"""Gates can hold or reject a step before it runs, for a spent budget, a quota or an open circuit.

Apps and plugins register gates. A worker asks them after it has claimed the run and read its
secrets, with no lock held. A gate has three possible answers:

- It lets the step through, with or without a permit that is notified of the step's end.
- It returns a Wait. The run is then suspended without using an attempt, and the gate is asked again
  afterwards.
- It raises StepError.

Runs that remote runners lease are checked together, in the transaction that leases them
(`ask_all`); their permits are stored as rows (`held_permits`).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol
from uuid import UUID

from runners.failures.classification import Failure
from runners.modules.base import Module, Wait
from runners.secrets.scrubbing import Scrubber
from runners.segment.context import SegmentContext
from runners.segment.work import Work

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A step that is about to run; `inputs` are validated if the step's module has a circuit.

    `credential` contains the fields of the step's credential. `scrub` removes the values of the
    step's secrets from texts; it is None if the step uses no secrets.
    """

    context: SegmentContext
    work: Work
    module: Module[Any]
    inputs: Any
    scrub: Scrubber | None
    credential: Mapping[str, str] | None = None

    @property
    def costs(self) -> bool:
        """Return whether the step spends money or tokens."""
        prepared = self.work.prepared
        return self.module.costs_with(None if prepared is None else prepared.value)


class Permit(Protocol):
    """A gate's permission to run a step.

    Exactly one of the methods `undo` and `ended` is called, unless the process ends first.
    `timeout` is the timeout in seconds for a call to the step's target, if a rule sets one.
    """

    @property
    def timeout(self) -> float | None:
        """Return the timeout in seconds; None if the gate sets none."""

    def undo(self) -> None:
        """Revoke the permit, because another gate stopped the step or the step's lease was lost."""

    def ended(self, failure: Failure | None) -> None:
        """Record that the module ran; `failure` is None if it succeeded."""


class LeasePermit(Permit, Protocol):
    """A permit that outlives the process in which it was given.

    If the lease ends without a report, `lost` is called instead of `ended`: the result is unknown.
    """

    @property
    def kept(self) -> Any:
        """Return the JSON from which `LeaseGate.restore` restores this permit.

        Return None if the gate need not be notified of the step's end.
        """

    def lost(self) -> None:
        """Record that the lease is over and that the step's result is unknown."""


Gate = Callable[[Asked], Permit | Wait | None]
LeaseAnswer = LeasePermit | Wait | Exception | None


@dataclass(frozen=True, slots=True)
class LeaseGate:
    """A gate's check of runs that are leased together.

    `ask` returns one answer for each run: a permit, a Wait, an exception that fails the run, or
    None. `ask` and `undo` run in the transaction that leases the runs: they must lock rows in one
    order, make a fixed number of queries, and wake no run before the commit. `restore` creates a
    permit again from the run, the token of its lease and the stored JSON; `name` is stored with the
    permit. A gate without permits needs no `restore`.
    """

    name: str
    ask: Callable[[Sequence[Asked]], Sequence[LeaseAnswer]]
    undo: Callable[[Sequence[Any]], None] | None = None
    restore: Callable[[UUID, int, Any], LeasePermit] | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The permits that the gates gave for one step."""

    permits: tuple[Permit, ...] = ()

    @property
    def timeout(self) -> float | None:
        """Return the seconds allowed for a call to the target; None if no rule sets a limit."""
        return next((p.timeout for p in self.permits if p.timeout is not None), None)

    def ended(self, failure: Failure | None) -> None:
        """Report the step's end to the gates that gave permits.

        An error in a gate does not affect the step's result.
        """
        for permit in reversed(self.permits):
            try:
                permit.ended(failure)
            except Exception:
                log.exception("a gate could not record the end of a step")

    def undo(self) -> None:
        """Revoke the permits of a step that did not run or that lost its lease."""
        for permit in reversed(self.permits):
            try:
                permit.undo()
            except Exception:
                log.exception("a gate could not take back its permit")


class Stage(IntEnum):
    """The order of gates: gates that can reject a step come first, gates of targets come last."""

    REFUSE = 1
    HOLD = 2
    TARGET = 3


OPEN = Passage()
_gates: list[Gate] = []
_stages: dict[Gate, Stage] = {}
_of_leases: dict[Gate, LeaseGate] = {}


def register(gate: Gate, stage: Stage = Stage.TARGET, leases: LeaseGate | None = None) -> None:
    """Register a gate, after the other gates of its stage; call this function in `AppConfig.ready`.

    For a gate that gives permits, pass `leases`, its check of leased runs. A gate without `leases`
    is asked about each leased run separately.
    """
    _stages.setdefault(gate, stage)
    if leases is not None:
        _of_leases[gate] = leases
    _gates[:] = sorted(_stages, key=lambda known: _stages[known])


def ask(asked: Asked) -> Passage | Wait:
    """Ask the gates in order; return a passage if all let the step through, or the first Wait.

    Raises the exception that a gate raises. After an exception or a Wait, earlier permits are
    undone.
    """
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


@dataclass(frozen=True, slots=True)
class LeasePassage:
    """The permits that the gates gave for one leased run, each together with its gate."""

    permits: tuple[tuple[LeaseGate, LeasePermit], ...] = ()

    @property
    def timeout(self) -> float | None:
        """Return the seconds allowed for a call to the target; None if no rule sets a limit."""
        return next((p.timeout for _, p in self.permits if p.timeout is not None), None)


def ask_all(asked: Sequence[Asked]) -> list[LeasePassage | Wait | Exception]:
    """Ask every gate about runs that are leased together; return the answers in the runs' order.

    Call this function in the transaction that leases the permitted runs. Each gate is asked about
    the runs that the earlier gates let through. If a gate holds or rejects a run, the permits that
    earlier gates gave for it are undone.
    """
    refused: dict[int, Wait | Exception] = {}
    given: list[list[tuple[LeaseGate, LeasePermit]]] = [[] for _ in asked]
    for gate in _gates:
        asking = [number for number in range(len(asked)) if number not in refused]
        of_leases = _of_leases.get(gate) or _one_by_one(gate)
        answers = of_leases.ask([asked[number] for number in asking]) if asking else ()
        for number, answer in zip(asking, answers, strict=True):
            if isinstance(answer, Wait | Exception):
                refused[number] = answer
            elif answer is not None:
                given[number].append((of_leases, answer))
    _undo([pair for number in refused for pair in given[number]])
    return [
        refused.get(number) or LeasePassage(tuple(permits)) for number, permits in enumerate(given)
    ]


def restored(name: str, run_id: UUID, token: int, kept: Any) -> LeasePermit | None:
    """Restore a permit for a lease; return None if no installed gate can restore it."""
    found = (gate for gate in _of_leases.values() if gate.name == name)
    gate = next(found, None)
    return None if gate is None or gate.restore is None else gate.restore(run_id, token, kept)


def _undo(pairs: Sequence[tuple[LeaseGate, LeasePermit]]) -> None:
    by_name: dict[str, tuple[LeaseGate, list[LeasePermit]]] = {}
    for gate, permit in pairs:
        by_name.setdefault(gate.name, (gate, []))[1].append(permit)
    for gate, permits in by_name.values():
        if gate.undo is not None:
            gate.undo(permits)


def _one_by_one(gate: Gate) -> LeaseGate:
    """Return a lease gate for a gate without one: it can hold or fail runs, but gives no permit."""

    def ask_each(asked: Sequence[Asked]) -> list[LeaseAnswer]:
        return [ask_one(one) for one in asked]

    def ask_one(asked: Asked) -> Wait | Exception | None:
        try:
            answer = gate(asked)
        except Exception as error:
            return error
        if answer is None or isinstance(answer, Wait):
            return answer
        raise TypeError(
            f"The gate {gate!r} gave a permit for a run that a remote runner leases, but it "
            "has no `leases`. Register it with `leases=LeaseGate(…)`."
        )

    return LeaseGate("", ask_each)
