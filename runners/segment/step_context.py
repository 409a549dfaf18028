"""The API that a running module uses: its data, its reports and its time limit."""

import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from types import FrameType
from typing import Any, BinaryIO
from uuid import UUID

from executions.payloads import StoredReference
from executions.vendor_seams.python_signals import current_handler
from runners.conf import default_currency
from runners.failures.failure_text import storable_text
from runners.modules.base import PublishedEvent, StepError
from runners.modules.stored_content import ContentStore, parts_of
from runners.secrets.scrubbing import Scrubber
from runners.segment.work import Cost

# Publishes an event by name and payload; the number counts the step's events.
Publisher = Callable[[str, Any, int], PublishedEvent]

MAX_ENTRIES = 200
MAX_TEXT = 2_000
MAX_INTEGER = 2**63
MAX_AMOUNT = Decimal(10**9)
MAX_NAME = 200
MAX_MODELS = 50
CURRENCY_LETTERS = 3


class Log:
    """A step's log: the first 200 messages are stored with the run; later ones are only counted."""

    __slots__ = ("_began", "entries", "left_out", "scrub")

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.left_out = 0
        self.scrub: Scrubber | None = None
        self._began = time.monotonic()

    def debug(self, message: str, **fields: Any) -> None:
        """Log a message for debugging."""
        self._add("debug", message, fields)

    def info(self, message: str, **fields: Any) -> None:
        """Log an event."""
        self._add("info", message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        """Log a warning."""
        self._add("warning", message, fields)

    def error(self, message: str, **fields: Any) -> None:
        """Log an error."""
        self._add("error", message, fields)

    def kept(self) -> list[dict[str, Any]] | None:
        """Return the log to store with the run, or None if the log is empty."""
        if self.left_out:
            more = {"level": "warning", "message": f"{self.left_out} more messages were left out"}
            return [*self.entries, more]
        return self.entries or None

    def _add(self, level: str, message: str, fields: dict[str, Any]) -> None:
        if len(self.entries) >= MAX_ENTRIES:
            self.left_out += 1
            return
        entry: dict[str, Any] = {
            "ms": round(1000 * (time.monotonic() - self._began)),
            "level": level,
            "message": self._text(message),
        }
        if fields:
            entry["fields"] = {
                self._text(name): self._plain(value) for name, value in fields.items()
            }
        self.entries.append(entry)

    def _plain(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        small = isinstance(value, int) and abs(value) < MAX_INTEGER
        if small and (self.scrub is None or self.scrub.details(value) == value):
            return value
        return self._text(value)

    def _text(self, value: Any) -> str:
        text = str(value)
        # Scrub before truncation, because half a secret would not be recognized.
        return storable_text(text if self.scrub is None else self.scrub.message(text), MAX_TEXT)


class Context:
    """The engine's `StepContext`; `modules/base.py` documents the part for modules."""

    __slots__ = (
        "_cancelled",
        "_contents",
        "_details",
        "_events",
        "_publisher",
        "attempt",
        "changed",
        "costs",
        "credential",
        "deadline",
        "execution_id",
        "idempotency_key",
        "last_details",
        "log",
        "origin",
        "step_path",
        "stored",
        "target_timeout",
        "told",
        "variables",
    )

    def __init__(
        self,
        *,
        execution_id: UUID,
        step_path: str,
        attempt: int,
        idempotency_key: str,
        seconds: float,
        variables: Mapping[str, Any],
        last_details: Any = None,
        origin: str = "",
        changed: frozenset[str] = frozenset(),
    ) -> None:
        self.execution_id = execution_id
        self.step_path = step_path
        self.attempt = attempt
        self.idempotency_key = idempotency_key
        self.deadline = time.monotonic() + seconds
        self.variables = variables
        self.last_details = last_details
        self.origin = origin
        self.changed = changed
        self.target_timeout: float | None = None
        self.log = Log()
        self.credential: Mapping[str, str] | None = None
        self.costs: dict[tuple[str, str], Cost] = {}
        self.told: Any = None  # the details last given to `heartbeat`
        self._details: Callable[[Any], None] | None = None
        self._cancelled: Callable[[], bool] | None = None
        self._publisher: Publisher | None = None
        self._contents: ContentStore | None = None
        self.stored: list[StoredReference] = []  # the contents that the step has stored
        self._events = 0

    def reveal(self, credential: Mapping[str, str] | None, scrub: Scrubber) -> None:
        """Give the module its credential, and remove secrets from its later reports."""
        self.credential = credential
        self.log.scrub = scrub

    @property
    def uses_secrets(self) -> bool:
        """Return whether the inputs may contain secrets, or the step names a credential."""
        return self.log.scrub is not None

    def mind(self, *, cancelled: Callable[[], bool], details: Callable[[Any], None]) -> None:
        """Set the heartbeat's functions that report a cancellation and store details."""
        self._cancelled = cancelled
        self._details = details

    def publish_by(self, publisher: Publisher) -> None:
        """Set the function that publishes events of the workspace."""
        self._publisher = publisher

    def publish_event(self, name: str, payload: Any) -> PublishedEvent:
        """Publish an event to the workspace, once for all attempts with the same key."""
        if self._publisher is None:
            raise StepError(
                "this step does not belong to an execution, so it cannot publish events"
            )
        self._events += 1
        return self._publisher(name, payload, self._events)

    def store_in(self, contents: ContentStore) -> None:
        """Set the store of the step's content."""
        self._contents = contents

    def store_content(
        self, content: BinaryIO | Iterable[bytes], *, media_type: str = ""
    ) -> StoredReference:
        """Write bytes to the payload store in parts, and return a reference to them."""
        parts = parts_of(content)
        if self.log.scrub is not None:
            parts = self.log.scrub.parts(parts)
        found = self._stored().store(parts, storable_text(media_type, MAX_NAME))
        self.stored.append(found)
        return found

    def open_content(self, reference: Mapping[str, Any]) -> AbstractContextManager[BinaryIO]:
        """Open the stored content to which an input refers."""
        return self._stored().open(dict(reference))

    def _stored(self) -> ContentStore:
        if self._contents is None:
            raise StepError(
                "contents need a payload store: an administrator sets VALKYR_PAYLOAD_STORE. A step "
                "that writes with its record cannot use it"
            )
        return self._contents

    def remaining(self) -> float:
        """Return the seconds until the deadline; negative after it has passed."""
        return self.deadline - time.monotonic()

    def cancelled(self) -> bool:
        """Return whether to stop: the run was ended or taken over, or its lease ends soon."""
        return self._cancelled is not None and self._cancelled()

    def heartbeat(self, details: Any = None) -> None:
        """Store `details` for the next attempt; without `details`, do nothing."""
        if self._details is not None and details is not None:
            if self.log.scrub is not None:
                details = self.log.scrub.value(details, "details of the heartbeat")
            self._details(details)
            self.told = details

    def cost(
        self,
        *,
        tokens: int = 0,
        amount: Decimal = Decimal(0),
        currency: str = "",
        model: str = "",
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Add a cost of this step. Raises ValueError for invalid values."""
        spent = Expense(tokens, amount, currency, model, input_tokens, output_tokens)
        add_cost(self.costs, spent)


@dataclass(frozen=True, slots=True)
class Expense:
    """One cost that a step reported; the fields are the arguments of `StepContext.cost`."""

    tokens: int = 0
    amount: Decimal = Decimal(0)
    currency: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


def add_cost(costs: dict[tuple[str, str], Cost], spent: Expense) -> None:
    """Add a cost to an attempt's costs, which are kept per model and currency.

    Raises ValueError for invalid values, or if MAX_MODELS costs exist, all in other currencies.
    """
    counts = (spent.tokens, spent.input_tokens, spent.output_tokens)
    amount = spent.amount
    known = all(0 <= count < MAX_INTEGER for count in counts)
    if not (known and amount.is_finite() and 0 <= amount <= MAX_AMOUNT):
        raise ValueError(
            f"a cost is tokens from 0 up and an amount from 0 to {MAX_AMOUNT:,}; "
            f"found {max(counts, key=abs)} tokens and {amount}"
        )
    key = (storable_text(spent.model, MAX_NAME), spent.currency or default_currency())
    if len(key[1]) != CURRENCY_LETTERS or not key[1].isupper():
        raise ValueError(f"a currency is three capitals, such as EUR; found {spent.currency!r}")
    if key not in costs and len(costs) >= MAX_MODELS:
        same = [one for one in costs if one[1] == key[1]]
        if not same:
            raise ValueError(
                f"the costs of one attempt are in {MAX_MODELS} models and currencies already; "
                f"found another currency, {key[1]}"
            )
        key = same[-1]
    old = costs.get(key, Cost(*key, 0, 0, 0, Decimal(0)))
    more = spent.tokens or spent.input_tokens + spent.output_tokens
    costs[key] = Cost(
        *key,
        min(old.input_tokens + spent.input_tokens, MAX_INTEGER - 1),
        min(old.output_tokens + spent.output_tokens, MAX_INTEGER - 1),
        min(old.tokens + more, MAX_INTEGER - 1),
        min(old.amount + amount, MAX_AMOUNT),
    )


# End a step that exceeds its time limit, without affecting other steps.
#
# In a prefork child, steps run in the main thread, where a timer can raise an exception. In other
# threads, that is impossible: there the heartbeat fences the row, and the module's own timeouts
# must end the work.


class StepTimeout(BaseException):
    """The step exceeded its time limit.

    It is not an Exception, so `except Exception` cannot catch it.
    """


class _Timer:
    armed = False


def _ring(signum: int, frame: FrameType | None) -> None:
    # The signal may arrive just after the step returned, when it has to be ignored.
    if _Timer.armed:
        _Timer.armed = False
        raise StepTimeout


class time_limit:  # noqa: N801 - a block, not a thing
    """In the main thread, raise StepTimeout if the block takes more than `seconds`."""

    __slots__ = ("here", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.here = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self.here = True
        if current_handler(signal.SIGALRM) is not _ring:
            signal.signal(signal.SIGALRM, _ring)
        _Timer.armed = True
        signal.setitimer(signal.ITIMER_REAL, max(0.001, self.seconds))

    def __exit__(self, *error: object) -> None:
        if self.here:
            _Timer.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
