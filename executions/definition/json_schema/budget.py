"""The budget for checking a value against a schema.

The unit is one evaluation of one keyword, about 3.5 µs of CPU time. Work that grows with the value
or the schema is charged in the same unit, mostly in advance.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Evaluations for a request in a web process: 0.35 s of one thread. They run in pure Python, so that
# other threads can run in between.
REQUEST = 100_000
# Evaluations for each further payload of a request; an order with 25 lines takes 480. A thousand
# payloads take at most 2.1 s.
FURTHER = 500
# Evaluations to check all schemas of a definition: 0.8 s. A part of a schema takes about 100.
DEFINITION = 150_000
# Evaluations in a step, which also has a timeout.
STEP = 4_000_000
# Characters of an error's message, and instructions of a pattern, that cost one evaluation.
CHARACTERS = 50
INSTRUCTIONS = 1_000
SECONDS = 3.5e-6


class BudgetExceeded(Exception):
    """The check, or all checks of one request, would take more evaluations than allowed."""

    def __init__(self, most: int, payloads: int = 1) -> None:
        checked, send = "the value", "less data"
        if payloads > 1:
            checked, send = f"the {payloads:,} payloads of one request", "fewer at once, less data"
        super().__init__(
            f"Checking {checked} takes more than {most:,} evaluations of the schema. Send {send}, "
            "or simplify the schema: fewer alternatives, and fewer references that lead to the "
            "same part."
        )


class EvaluationBudget:
    """The evaluations that are left for a check, a definition or a request."""

    __slots__ = ("_left", "_most", "_payloads")

    def __init__(self, most: int, payloads: int = 1) -> None:
        """Begin with `most` evaluations, which the given number of payloads share."""
        self._most = self._left = most
        self._payloads = payloads

    def spend(self, evaluations: int) -> None:
        """Charge evaluations. Raises BudgetExceeded if too few are left."""
        self._left -= evaluations
        if self._left < 0:
            raise BudgetExceeded(self._most, self._payloads)


_current: ContextVar[EvaluationBudget] = ContextVar("json_schema_budget")


def current() -> EvaluationBudget:
    """Return the budget of this thread's running check. Raises LookupError outside a check."""
    return _current.get()


@contextmanager
def spending(budget: EvaluationBudget) -> Iterator[None]:
    """Let the checks in this block spend from `budget`."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def timed() -> Iterator[None]:
    """Charge the current check of this thread, if any, for the CPU time of this block.

    Use it for short C code of unknown cost. Raises BudgetExceeded if too few evaluations are left.
    """
    began = time.thread_time()
    try:
        yield
    finally:
        budget = _current.get(None)
        if budget is not None:
            budget.spend(int((time.thread_time() - began) / SECONDS))


_definition: ContextVar[EvaluationBudget | None] = ContextVar(
    "definition_schema_budget", default=None
)


@contextmanager
def one_definition() -> Iterator[None]:
    """Let all schemas in this block share the budget of one definition."""
    token = _definition.set(EvaluationBudget(DEFINITION))
    try:
        yield
    finally:
        _definition.reset(token)


def for_a_schema(otherwise: int = DEFINITION) -> EvaluationBudget:
    """Return the rest of the definition's budget if a definition is being checked.

    Otherwise, return a new budget of `otherwise` evaluations.
    """
    return _definition.get() or EvaluationBudget(otherwise)


_request: ContextVar[EvaluationBudget | None] = ContextVar("request_schema_budget", default=None)


@contextmanager
def one_request(payloads: int) -> Iterator[None]:
    """Let the payloads that this block checks share one budget; `payloads` is their number."""
    payloads = max(1, payloads)
    token = _request.set(EvaluationBudget(REQUEST + FURTHER * (payloads - 1), payloads))
    try:
        yield
    finally:
        _request.reset(token)


def for_a_payload() -> EvaluationBudget:
    """Return the rest of the budget that the request's payloads share, or a new budget."""
    return _request.get() or EvaluationBudget(REQUEST)
