"""The contract of a module: typed inputs, one `execute` method, and a few declared facts.

Modules do not use Valkyr's tables or the broker: they receive inputs and a context, and return a
result or raise an exception. They keep no state between calls; one instance serves a whole process.
"""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from threading import RLock
from typing import Any, BinaryIO, ClassVar, Generic, Protocol, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from typing_extensions import TypeVar

from executions.definition.catalog import ConfigProblem, OutcomeRule, outcomes_by
from executions.definition.graph.model import DEFAULTS
from executions.payloads import StoredReference
from runners.states import ErrorType, WaitKind

logger = logging.getLogger(__name__)
_LOADING = RLock()


class ModuleInputs(BaseModel):
    """The base class of inputs: camelCase keys, no unknown keys, no values in error messages."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        hide_input_in_errors=True,
        defer_build=True,
    )


class ModuleOutputs(BaseModel):
    """The base class of outputs. Keys are camelCase in workflows; attributes have Python names."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class StepLog(Protocol):
    """The log of a step. Its messages are stored with the run, up to a limit. Log no secrets."""

    def debug(self, message: str, **fields: Any) -> None:
        """Log a message for debugging."""

    def info(self, message: str, **fields: Any) -> None:
        """Log an event."""

    def warning(self, message: str, **fields: Any) -> None:
        """Log a problem that the step handled."""

    def error(self, message: str, **fields: Any) -> None:
        """Log an error."""


class StepContext(Protocol):
    """The context of a running step, which the engine passes to the step's function or class."""

    @property
    def execution_id(self) -> UUID:
        """Return the ID of the execution to which this step belongs."""

    @property
    def step_path(self) -> str:
        """Return the path of the step in its workflow, such as `charge.pay`."""

    @property
    def attempt(self) -> int:
        """Return the number of this attempt; the first is 1."""

    @property
    def idempotency_key(self) -> str:
        """Return the step's key: 64 lower-case hex digits, equal for retries with equal inputs."""

    @property
    def deadline(self) -> float:
        """Return when the step's time limit ends, on the clock of `time.monotonic()`."""

    @property
    def last_details(self) -> Any:
        """Return the newest details that earlier attempts passed to `heartbeat`, or None."""

    @property
    def target_timeout(self) -> float | None:
        """Return the timeout in seconds that the circuit rule sets for calls to the step's target.

        Return None if no rule sets a timeout, or if circuit breakers are off.
        """

    @property
    def credential(self) -> Mapping[str, str] | None:
        """Return the fields of the credential that the step names, or None if it names none."""

    @property
    def uses_secrets(self) -> bool:
        """Return whether the inputs may contain secrets, or the step names a credential."""

    @property
    def origin(self) -> str:
        """Return where the workflow's code is, such as `shop.flows:fulfil`; "" if unknown."""

    @property
    def changed(self) -> frozenset[str]:
        """Return the keys of `with` that a user changed, for this or an earlier attempt."""

    @property
    def log(self) -> StepLog:
        """Return the log of this run."""

    @property
    def variables(self) -> Mapping[str, Any]:
        """Return the declared variables with the values they had at the start of the step."""

    def remaining(self) -> float:
        """Return the seconds until the deadline; negative after it has passed."""

    def cancelled(self) -> bool:
        """Return whether to stop: the run was ended or taken over, or its lease ends soon.

        Valkyr then discards the step's result. The worker notices the end of a run when it next
        renews the lease. In an inline module, the method always returns False.
        """

    def heartbeat(self, details: Any = None) -> None:
        """Store `details` for the next attempt; without `details`, do nothing."""

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
        """Add to the costs of this step, which count even if the step fails afterwards.

        By default, `tokens` is the sum of input and output tokens. `currency` is an ISO 4217 code;
        the default is the installation's (`VALKYR_CURRENCY`). Raises ValueError for invalid values.
        """

    def publish_event(self, name: str, payload: Any) -> "PublishedEvent":
        """Publish an event to the workspace, once for all attempts with the same `idempotency_key`.

        The first event of an attempt is the same event as the first one of the previous attempt,
        and so on. Raises StepError outside an execution, if the payload cannot be stored, or if the
        chain of events is too long.
        """

    def store_content(
        self, content: BinaryIO | Iterable[bytes], *, media_type: str = ""
    ) -> StoredReference:
        """Write bytes to the payload store in parts, and return a reference for the outputs.

        `content` is an open file or an iterable of parts; only a few MiB of it are in memory at a
        time. The step's secrets in it are replaced with references. Raises StepError without a
        payload store, or in an inline or `database` step; PayloadError if the content exceeds
        VALKYR_PAYLOAD_CONTENT_LIMIT; PayloadStoreUnavailable; and any error that `content` raises.
        """

    def open_content(self, reference: Mapping[str, Any]) -> AbstractContextManager[BinaryIO]:
        """Open the stored content that an input refers to (`StoredContent`), for a `with` block.

        The file supports seeking. Reading to its end raises an error if the content was changed.
        """


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event that a step published: its ID, the executions it started, and the rejected starts.

    `created` is False if an earlier attempt published the event. Runs that wait for the event are
    woken afterwards.
    """

    event_id: str
    created: bool
    executions: tuple[str, ...]
    refused: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A step's JSON-serializable outputs, its outcome, and the variables that it sets."""

    outputs: Any
    outcome: str = "success"
    variables: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A request to suspend a step, which then uses no worker until something wakes it.

    A timer wakes the step after `seconds` (or at the instant `until`) unless another cause wakes it
    first; if neither is given, the step has no timer. `key` names another cause, such as an event's
    name. `facts` are stored with the run and shown to users. When the step is woken, the engine
    calls the module's `woken`.
    """

    kind: WaitKind
    seconds: float | None = None
    until: datetime | None = None
    key: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


class StepError(Exception):
    """A failure of a step, with a type that the module chooses.

    `retry_after` is a delay in seconds. Users see `details` as JSON, so it must not contain
    secrets. `fingerprint` names the kind of failure (`card_declined`): failures of a step with the
    same fingerprint form one failure group, regardless of their messages. Without a fingerprint,
    the message determines the group; parts that vary, such as numbers and IDs, are ignored.
    """

    def __init__(
        self,
        message: str,
        error_type: ErrorType = ErrorType.PERMANENT,
        *,
        retry_after: float | None = None,
        details: Any = None,
        fingerprint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.error_type = error_type
        self.retry_after = retry_after
        self.details = details
        self.fingerprint = fingerprint


@dataclass(frozen=True, slots=True)
class Bad:
    """A row of a module's table of bad inputs: the problem, a `with` that has it, and the error.

    `says` is a part of the failure's message. A test runs every row; the API lists the errors. A
    row that needs a server (`needs` is a fixture's name) writes its address as `{server}`. A large
    `with` is a function that creates it, because every worker holds the table in memory.
    """

    what: str
    given: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    says: str
    error_type: ErrorType = ErrorType.PERMANENT
    needs: str = ""

    def inputs(self) -> Mapping[str, Any]:
        """Return the row's `with`; a large `with` is created by this call."""
        return self.given() if callable(self.given) else self.given


# Defined here, because the class below has a field named `type`.
Model = type[BaseModel]
InputsT = TypeVar("InputsT", bound=BaseModel, default=Any)


class Module(Generic[InputsT]):
    """A kind of step. Subclasses declare the facts below and implement `execute`.

    `effect` is `none` (safe to repeat), `idempotent` (safe with the idempotency key), `database` or
    `external`. With `database`, the module's writes to Valkyr's database commit with the step's
    record, or not at all. With `external`, the effect can happen twice after a crash. A module that
    `computes` is CPU-bound and cannot use a queue that threads of one process serve. A `remote`
    module needs a queue of remote runners. An `inline` module does no I/O and takes less than a
    millisecond. `outcomes` is empty for a module that has only `success`; if the outcomes depend on
    its `with`, `outcomes_from` specifies how. `credential` lists the types of credential that the
    module accepts; a step gets one, as `ctx.credential`. `takes_secrets` is False for a module that
    can return its inputs. A module that is inline, has a body or sets variables never takes
    secrets.

    `judges_hosts` is for modules that open connections only with the guarded clients (see
    `credential_hosts`). It is `everything` if all inputs are sent only through these clients, and
    `credential` if this is true only of the credential. `addresses` are the keys of `with` that
    contain the address; `keeps` are the keys that name something on this machine, such as a file. A
    module that `costs` spends money or tokens (`ctx.cost`): it is rejected once a budget is spent,
    and it is not inline. A class that itself sets `passes_payload` returns the payload that ended
    its wait without reading it; its subclasses get the payload loaded. `circuit_target` describes
    the result of `circuit` for the docs; `example` is an example of valid inputs; `bad_inputs`
    lists errors and their messages. The docstring of a subclass is its description, shown to
    authors of workflows.
    """

    type: ClassVar[str]
    title: ClassVar[str]
    category: ClassVar[str]
    description: ClassVar[str] = ""
    Inputs: ClassVar[Model]
    Outputs: ClassVar[Model | None] = None
    queue: ClassVar[str] = "default"
    inline: ClassVar[bool] = False
    effect: ClassVar[str] = "none"
    outcomes: ClassVar[tuple[str, ...]] = ()
    outcomes_from: ClassVar[tuple[OutcomeRule, ...]] = ()
    retry: ClassVar[str | Mapping[str, Any]] = "standard"
    timeout_seconds: ClassVar[float] = 60.0
    writes_variables: ClassVar[bool] = False
    credential: ClassVar[tuple[str, ...]] = ()
    takes_secrets: ClassVar[bool] = True
    judges_hosts: ClassVar[str] = ""
    addresses: ClassVar[tuple[str, ...]] = ()
    keeps: ClassVar[tuple[str, ...]] = ()
    container: ClassVar[str] = ""
    body_kind: ClassVar[str] = ""
    expands: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    passes_payload: ClassVar[bool] = False
    computes: ClassVar[bool] = False
    remote: ClassVar[bool] = False
    deferred: ClassVar[tuple[str, ...]] = ()
    costs: ClassVar[bool] = False
    circuit_target: ClassVar[str] = ""
    example: ClassVar[Mapping[str, Any]] = {}
    bad_inputs: ClassVar[tuple[Bad, ...]] = ()
    _loaded = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass does not inherit this attribute.
        cls.passes_payload = vars(cls).get("passes_payload", False)
        if cls.credential and not cls.may_take_secrets() and not cls.expands:
            raise TypeError(
                f"{cls.__name__} declares a credential, but modules that are inline, contain a "
                "body, set variables or take no secrets cannot have one"
            )
        if cls.costs and cls.inline:
            raise TypeError(
                f"{cls.__name__} reports costs and is inline, but Valkyr checks no budget before "
                "an inline module; declare it not inline"
            )
        if cls.effect == "database" and (cls.inline or cls.container or cls.waits):
            raise TypeError(
                f"{cls.__name__} has the effect 'database', but a module that is inline, holds a "
                "body or waits has no transaction of its own; remove one of the two"
            )
        if cls.computes and cls.queue in DEFAULTS.thread_queues:
            raise TypeError(
                f"{cls.__name__} computes and has the queue {cls.queue!r}, whose steps share one "
                "process and would all wait for it; omit `queue`, or name a queue with a prefork "
                "pool"
            )
        if "description" not in vars(cls) and cls.__doc__:
            cls.description = inspect.cleandoc(cls.__doc__)

    @classmethod
    def may_take_secrets(cls) -> bool:
        """Return whether the module's inputs may contain secrets."""
        kept = cls.inline or cls.container or cls.writes_variables
        return cls.takes_secrets and not kept

    def outcomes_for(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the outcomes that a step with this `with` can have; () if only `success`."""
        return outcomes_by(self.outcomes_from, config) if self.outcomes_from else self.outcomes

    def circuit(self, inputs: InputsT) -> str | None:
        """Return the target whose failures open a circuit breaker, or None.

        The target begins with the module's type, or a word that several modules share, and a colon,
        such as `http.request:api.example.com`. Users see the target, so it must not contain a
        secret.
        """
        return None

    def circuit_with(self, inputs: InputsT, credential: Mapping[str, str] | None) -> str | None:
        """Return the target, or None, as `circuit` does.

        Override this method if the module's credential names the server.
        """
        return self.circuit(inputs)

    @classmethod
    def has_circuit(cls) -> bool:
        """Return whether the module overrides `circuit` or `circuit_with`."""
        own = (cls.circuit, cls.circuit_with)
        return own != (Module.circuit, Module.circuit_with)

    def costs_with(self, config: Any) -> bool:
        """Return whether a step with these rendered inputs spends money or tokens."""
        return self.costs

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        """Return problems of a `with` that the inputs' JSON Schema and fields cannot express."""
        return []

    def warm_up(self) -> None:
        """Import the slow packages that `execute` needs; `load` calls it once."""

    def load(self) -> None:
        """Warm up once in this process.

        Modules warm up one at a time: if threads concurrently import packages that import each
        other, a thread can receive a package that is only partly initialised. If the warm-up fails,
        the module is used anyway.
        """
        with _LOADING:
            if self._loaded:
                return
            try:
                self.warm_up()
            except Exception:
                logger.exception("module %r could not warm up; it is used anyway", self.type)
            self._loaded = True

    def execute(
        self, inputs: InputsT, ctx: StepContext
    ) -> Result | Wait | BaseModel | Mapping[str, Any] | None:
        """Execute the step; return its result or a Wait. Raises StepError if the step fails."""
        raise NotImplementedError(f"module {self.type} has no execute()")

    def woken(
        self, inputs: InputsT, wake: Mapping[str, Any], ctx: StepContext
    ) -> Result | Wait | BaseModel | Mapping[str, Any] | None:
        """Continue after a Wait; return what `execute` can return. `wake["by"]` names the cause.

        The causes and their further keys are `timer`, `person` (`decision`, `comment`, `actor`,
        `at`), `event` (`event`, `payload`, `eventId`), `callback` (`payload`, `receivedAt`) and
        `child` (`state`, `output`, `error`, `executionId`). `wake["waitedSeconds"]` counts from the
        step's start. A payload in the payload store is loaded, unless the module `passes_payload`.
        """
        raise NotImplementedError(f"module {self.type} does not wait")

    def collected(self, inputs: Mapping[str, Any], turns: int, last: Any) -> Any:
        """Return a loop's output, from its rendered `with` and its last iteration's outputs."""
        raise NotImplementedError(f"module {self.type} has no body")

    def validated(self, config: Any) -> InputsT:
        """Return rendered inputs as an instance of the module's model.

        Raises pydantic's ValidationError.
        """
        inputs: Any = self.Inputs.model_validate(config)
        return cast("InputsT", inputs)

    def run(
        self, config: Any, ctx: StepContext, wake: Mapping[str, Any] | None = None
    ) -> Result | Wait:
        """Validate rendered inputs, execute or resume the step, and return the normalised result.

        Raises pydantic's ValidationError for invalid inputs, and errors of `execute` or `woken`.
        """
        if not self._loaded:
            self.load()
        inputs: Any = self.validated(config)
        if wake is not None:
            return as_result(self.woken(inputs, wake, ctx))
        return as_result(self.execute(inputs, ctx))


def as_result(value: Result | Wait | BaseModel | Mapping[str, Any] | None) -> Result | Wait:
    """Convert a return value of `execute` or `woken` into a `Result` or `Wait`.

    Raises StepError if the value has another type.
    """
    if isinstance(value, Result | Wait):
        return value
    if isinstance(value, BaseModel):
        return Result(value.model_dump(mode="json", by_alias=True))
    if value is None or isinstance(value, Mapping):
        return Result(value)
    raise StepError(
        f"a module must return a Result, a pydantic model, a mapping or None, "
        f"but it returned {type(value).__name__}"
    )
