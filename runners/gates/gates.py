"""Gates may hold a step back before its module runs: a spent budget, a quota, an open circuit.

Those who have one register it. A worker asks after it claimed the run and read its secrets, with
no lock held. A gate lets the step through, for nothing or with a permit that hears how the step
ended; or gives a Wait, in which the run sleeps without using an attempt and is asked about again;
or raises StepError. Runs that remote runners lease are asked about together, in the transaction
that leases them (`ask_all`); their permits are kept as rows (`held_permits`).
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

    @property
    def costs(self) -> bool:
        """Whether the step spends money or tokens."""
        prepared = self.work.prepared
        return self.module.costs_with(None if prepared is None else prepared.value)


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


class LeasePermit(Permit, Protocol):
    """A permit that outlives the process in which it was given.

    A lease may end without a report, so nobody may ever know how the step ended.
    """

    @property
    def kept(self) -> Any:
        """What `LeaseGate.restore` makes this permit from, as JSON.

        None where the gate need not hear how the step ended.
        """

    def lost(self) -> None:
        """The lease is over, and nobody knows how far the step came."""


Gate = Callable[[Asked], Permit | Wait | None]
LeaseAnswer = LeasePermit | Wait | Exception | None


@dataclass(frozen=True, slots=True)
class LeaseGate:
    """How a gate is asked about runs that are leased together.

    `ask` answers each of them: a permit, a Wait, an exception that fails the run, or None. It and
    `undo` run in the transaction that leases the runs: they lock rows in one order, make a fixed
    number of queries, and wake nobody before the commit. `restore` makes a permit again from the
    run, the token of its lease and what was kept; `name` is stored with the permit. A gate that
    gives no permits needs neither.
    """

    name: str
    ask: Callable[[Sequence[Asked]], Sequence[LeaseAnswer]]
    undo: Callable[[Sequence[Any]], None] | None = None
    restore: Callable[[UUID, int, Any], LeasePermit] | None = None


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
_of_leases: dict[Gate, LeaseGate] = {}


def register(gate: Gate, stage: Stage = Stage.TARGET, leases: LeaseGate | None = None) -> None:
    """Ask this gate too, after those of its stage; call it in `AppConfig.ready`.

    A gate that gives permits says with `leases` how it is asked about leased runs. Any other is
    asked about each of them by itself.
    """
    _stages.setdefault(gate, stage)
    if leases is not None:
        _of_leases[gate] = leases
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


@dataclass(frozen=True, slots=True)
class LeasePassage:
    """What the gates gave for one run that is leased: permits, each with its gate."""

    permits: tuple[tuple[LeaseGate, LeasePermit], ...] = ()

    @property
    def timeout(self) -> float | None:
        """How many seconds a call of the step's target may take, where somebody said so."""
        return next((p.timeout for _, p in self.permits if p.timeout is not None), None)


def ask_all(asked: Sequence[Asked]) -> list[LeasePassage | Wait | Exception]:
    """Ask every gate about runs that are leased together: what each run is answered, in order.

    Call it in the transaction that leases those let through. A gate is asked about the runs that
    those before it let through; what they gave for runs that it holds back is taken back.
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
    """Make a permit again that a gate gave for a lease; None where the gate is not installed."""
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
    """A gate that said nothing of leases: it may hold runs back, and gives no permits."""

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
            f"The gate {gate!r} gave a permit for a run that a remote runner leases, and cannot "
            "keep it. Register it with `leases=LeaseGate(…)`."
        )

    return LeaseGate("", ask_each)
