"""The values that the stages of a segment's pipeline exchange."""

import math
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Step
from executions.definition.graph.places import Place
from executions.payload_store.writing import Encoded
from runners.conf import default_currency
from runners.failures.classification import Failure
from runners.modules.base import Result, Wait
from runners.segment.inputs import Prepared


@dataclass(slots=True)
class Work:
    """A run that this process has claimed, with its rendered inputs or a failure to record."""

    run_id: UUID
    execution_id: UUID
    token: int
    holder: str
    step: Step
    path: str
    prepared: Prepared | None
    failure: Failure | None = None
    attempt: int = 1
    budget: int = 1
    overrides: Any = None
    last_details: Any = None
    wake: Any = None  # the data that ended the run's wait, if it waited
    held_seconds: float = 0.0  # time that a gate held the step before its module ran
    # The module's time limit in seconds, in addition to the step's timeout.
    at_most: float = math.inf
    within: AbstractContextManager[Any] | None = None  # a context manager around the module
    # `time.monotonic()` before the claim was sent. The lease ends no earlier than its length after
    # this time.
    claimed_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Return the time limit of the step's module, in seconds."""
        return min(self.step.timeout_seconds, self.at_most)


# Maximum values of a run's columns. Higher values make no difference to a budget.
MOST_TOKENS = 2**63 - 1
MOST_AMOUNT = Decimal(9999999999)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an attempt for one model or service (`StepContext.cost`)."""

    model: str
    currency: str
    input_tokens: int
    output_tokens: int
    tokens: int
    amount: Decimal


@dataclass(slots=True)
class Done:
    """A step that ran: its result (a value, and its JSON text), and the duration."""

    step: Step
    place: Place
    prepared: Prepared
    result: Result
    outputs: str
    milliseconds: float
    logs: Any = None
    costs: tuple[Cost, ...] = ()
    run_id: UUID | None = None  # ID of a run that exists only in memory
    cached_from: UUID | None = None  # the run with this result, if the result was cached
    large: Encoded | None = None  # the output that is about to be stored in object storage
    stored: bool = False  # `outputs` is a reference to a value in object storage


@dataclass(slots=True)
class Broken:
    """The step to claim next, because it failed in memory or its inputs could not be rendered."""

    step: Step
    prepared: Prepared | None
    failure: Failure


@dataclass(slots=True)
class Unit:
    """A unit to record: one step with an effect, or a sequence of pure steps."""

    head: Done | None
    failure: Failure | None = None
    more: list[Done] = field(default_factory=list)
    broken: Broken | None = None
    wait: Wait | None = None  # the wait, if the head was suspended
    skipped: list[str] = field(default_factory=list)  # rows of a batch's items that have ended
    milliseconds: float = 0.0
    logs: Any = None
    details: Any = None  # the details of a failed attempt, for the next one
    spent: tuple[Cost, ...] = ()  # costs of an attempt that failed or was suspended

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Return the costs of the attempt, whether it succeeded or failed."""
        return self.head.costs if self.head is not None else self.spent

    @property
    def variables(self) -> dict[str, Any]:
        """Return the variables that the unit's steps set; the last value wins."""
        merged: dict[str, Any] = {}
        for done in (self.head, *self.more):
            if done is not None and done.result.variables:
                merged.update(done.result.variables)
        return merged

    @property
    def writes_variables(self) -> bool:
        """Return whether any of the unit's steps set a variable."""
        return any(done.result.variables for done in (self.head, *self.more) if done is not None)

    def cost_totals(self) -> tuple[int, Decimal]:
        """Return the tokens, and the amount in the installation's currency, for a run's row."""
        if not self.costs:
            return 0, Decimal(0)
        ours = default_currency()
        amounts = [cost.amount for cost in self.costs if cost.currency == ours]
        tokens = sum(cost.tokens for cost in self.costs)
        return min(tokens, MOST_TOKENS), min(sum(amounts, Decimal(0)), MOST_AMOUNT)


# A live run as a worker read it, before the worker tries to claim it.


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A live run as it was read. The claim succeeds only if the run's token has not changed."""

    id: UUID
    step: Step
    attempt: int
    budget: int
    state: str
    token: int
    leased_by: str
    crashes: int
    suspect: bool
    overrides: Any
    details: Any
    expired: bool
    waits_for: str = ""
    wake: Any = None  # the data that ended its wait
    inputs: Any = None  # the inputs at the start of the wait
    inputs_hash: str = ""
