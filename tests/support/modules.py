"""Modules for tests: `test.effect` writes a mark into its own table, then misbehaves as configured.

Workers load this file by `VALKYR_EXTRA_MODULES`; a test's own process by `install`.
"""

import os
import time
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Literal

import psycopg
from django.db import connection
from pydantic import Field

from runners.modules import registry
from runners.modules.base import Module, ModuleInputs, Result, StepContext, StepError, Wait
from runners.segment.step_context import StepTimeout
from runners.states import ErrorType, WaitKind
from tests.support import agent_step, knocking_step, row_steps

CREATE = """
CREATE TABLE IF NOT EXISTS test_effects (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    execution uuid NOT NULL,
    step text NOT NULL,
    attempt int NOT NULL,
    run uuid,
    token int,
    pid int NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS test_effects_step ON test_effects (execution, step);
"""
# It does not see its own insertion.
MARK = """
WITH left_here AS (
    INSERT INTO test_effects (key, execution, step, attempt, run, token, pid)
    VALUES (
        %(key)s, %(execution)s, %(step)s, %(attempt)s, %(run)s, %(token)s, %(pid)s
    )
)
SELECT 1 + count(*) FROM test_effects WHERE execution = %(execution)s AND step = %(step)s
"""


class EffectInputs(ModuleInputs):
    """The value to return, and the misbehaviour of the first attempts of this step."""

    value: Any = Field(None, description="The output.")
    outcome: str = Field("success", description="How it ends; named in `outcomes`.")
    outcomes: list[str] = Field([], description="What it may end with, for a gate.")
    seconds: float = Field(0, description="How long each try takes.")
    hang_seconds: float = Field(0, description="How long the first `hangTimes` tries take.")
    hang_times: int = Field(1, description="How many tries hang for `hangSeconds`.")
    fail_times: int = Field(0, description="How many of the first tries fail.")
    error_type: Literal["TRANSIENT", "PERMANENT", "TIMEOUT"] = Field(
        "TRANSIENT", description="How these failures are classed."
    )
    named: str = Field("", description="What these failures are called.")
    kill_times: int = Field(0, description="How many of the first tries kill their process.")
    kill_by: int = Field(9, description="With which signal; 0 exits with code 3.")
    stall_times: int = Field(0, description="How many of the first tries stop every other thread.")
    ignore_timeout: bool = Field(False, description="Hang on when told that the time is over.")
    tell: Any = Field(None, description="What to give to `heartbeat`.")
    hold_mebibytes: int = Field(0, description="How much memory to ask for.")
    take_mebibytes: int = Field(0, description="How much memory to fill, and hold to the end.")
    while_there: str = Field("", description="A file that holds each try for as long as it exists.")


class OddInputs(ModuleInputs):
    """The kind of odd value to return."""

    kind: str


ODD: dict[str, Any] = {
    "large": lambda: "x" * 2**20,
    "too large": lambda: "x" * 50 * 2**20,
    "nan": lambda: {"deep": [float("nan")]},
    "nul": lambda: "a\x00b",
    "surrogate": lambda: {"\ud800": 1},
    "deep": lambda: nested(100_000),
    "bytes": lambda: {"body": b"x"},
}


def nested(depth: int) -> Any:
    """Return lists nested to this depth."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


class Odd(Module[OddInputs]):
    """Returns values that can hardly be stored, or cannot be stored."""

    type: ClassVar[str] = "test.odd"
    title: ClassVar[str] = "Odd"
    category: ClassVar[str] = "test"
    retry: ClassVar[str] = "none"
    Inputs = OddInputs

    def execute(self, inputs: OddInputs, ctx: StepContext) -> Result:
        ctx.log.info("gives \ud800", kind=inputs.kind)
        return Result(ODD[inputs.kind]())


class WaitInputs(ModuleInputs):
    """The duration of the wait, and the way to end after it."""

    seconds: float = Field(0, description="How long it sleeps.")
    value: Any = Field(None, description="The output, once woken.")
    outcome: str = Field("success", description="How it ends; named in `outcomes`.")
    outcomes: list[str] = Field([], description="What it may end with, for a gate.")
    fail: bool = Field(False, description="Fail for good once woken.")


class Sleeper(Module[WaitInputs]):
    """Sleeps on a timer without occupying a worker; writes a mark when woken, then ends as
    configured.
    """

    type: ClassVar[str] = "test.wait"
    title: ClassVar[str] = "Wait"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "idempotent"
    waits: ClassVar[bool] = True
    Inputs = WaitInputs

    def outcomes_for(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(config.get("outcomes", ()))

    def execute(self, inputs: WaitInputs, ctx: StepContext) -> Wait:
        return Wait(WaitKind.TIMER, seconds=inputs.seconds)

    def woken(self, inputs: WaitInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        assert wake["by"] == "timer"
        leave_mark(ctx)
        if inputs.fail:
            raise StepError("woken to fail")
        return Result(inputs.value, inputs.outcome)


class Effect(Module[EffectInputs]):
    """Writes a mark with the idempotency key, the run and its token; then behaves as configured."""

    type: ClassVar[str] = "test.effect"
    title: ClassVar[str] = "Effect"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "idempotent"
    Inputs = EffectInputs

    def outcomes_for(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(config.get("outcomes", ()))

    def execute(self, inputs: EffectInputs, ctx: StepContext) -> Result:
        tries = leave_mark(ctx)
        if inputs.tell is not None:
            ctx.heartbeat(inputs.tell)
        if tries <= inputs.kill_times:
            if inputs.kill_by == 0:
                os._exit(3)
            os.kill(os.getpid(), inputs.kill_by)
        if tries <= inputs.stall_times:
            stall()
        if tries <= inputs.hang_times and inputs.hang_seconds:
            linger(inputs.hang_seconds, ctx, stubborn=inputs.ignore_timeout)
        if inputs.hold_mebibytes:
            bytearray(inputs.hold_mebibytes * 1024 * 1024)
        taken = [b"x" * (1024 * 1024) for _ in range(inputs.take_mebibytes)]
        if inputs.seconds:
            linger(inputs.seconds, ctx, stubborn=inputs.ignore_timeout)
        while inputs.while_there and Path(inputs.while_there).exists():
            time.sleep(0.02)
        taken.clear()
        if tries <= inputs.fail_times:
            raise StepError(
                f"try {tries} fails", ErrorType(inputs.error_type), fingerprint=inputs.named
            )
        return Result(inputs.value, inputs.outcome)


class SpenderInputs(ModuleInputs):
    """The costs to record, and the way to end after that."""

    model: str = Field("", description="The model that it says it used.")
    tokens: int = Field(0, description="Tokens spent.")
    amount: Decimal = Field(Decimal(0), description="Money spent.")
    currency: str = Field("", description="Its currency.")
    then: Literal["succeed", "fail", "wait"] = Field("succeed", description="How it goes on.")


class Spender(Module[SpenderInputs]):
    """Spends as configured and writes a mark; then succeeds, fails permanently, or sleeps first."""

    type: ClassVar[str] = "test.spender"
    title: ClassVar[str] = "Spender"
    category: ClassVar[str] = "test"
    effect: ClassVar[str] = "external"
    retry: ClassVar[str] = "none"
    waits: ClassVar[bool] = True
    costs: ClassVar[bool] = True
    Inputs = SpenderInputs

    def execute(self, inputs: SpenderInputs, ctx: StepContext) -> Result | Wait:
        leave_mark(ctx)
        ctx.cost(
            tokens=inputs.tokens,
            amount=inputs.amount,
            currency=inputs.currency,
            model=inputs.model,
        )
        if inputs.then == "fail":
            raise StepError("spent it and failed")
        if inputs.then == "wait":
            return Wait(WaitKind.TIMER, seconds=0)
        return Result({"tokens": inputs.tokens})

    def woken(self, inputs: SpenderInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        ctx.cost(tokens=inputs.tokens, amount=inputs.amount, model=inputs.model)
        return Result({"tokens": 2 * inputs.tokens})


class PureInputs(ModuleInputs):
    """The duration of the step, and its misbehaviour."""

    seconds: float = Field(0, description="How long it takes, which is too long for a pure step.")
    waits: bool = Field(False, description="Wait, which a pure step cannot.")


class Pure(Module[PureInputs]):
    """A step that runs inline and returns the facts that it is given about itself."""

    type: ClassVar[str] = "test.pure"
    title: ClassVar[str] = "Pure"
    category: ClassVar[str] = "test"
    inline: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    Inputs = PureInputs

    def execute(self, inputs: PureInputs, ctx: StepContext) -> Result | Wait:
        time.sleep(inputs.seconds)
        if inputs.waits:
            return Wait(WaitKind.TIMER, seconds=0)
        return Result({"attempt": ctx.attempt, "key": ctx.idempotency_key, "path": ctx.step_path})


class LargeInputs(ModuleInputs):
    """The size of the text to return."""

    mebibytes: int = Field(1, description="The size of the text.")


class Large(Module[LargeInputs]):
    """Returns a text of that size, different in each execution."""

    type: ClassVar[str] = "test.large"
    title: ClassVar[str] = "Large output"
    category: ClassVar[str] = "test"
    Inputs = LargeInputs

    def execute(self, inputs: LargeInputs, ctx: StepContext) -> Result:
        return Result({"text": str(ctx.execution_id).ljust(inputs.mebibytes * 2**20, "x")})


class Staller(Module[ModuleInputs]):
    """A step that runs inline and stalls its process at each attempt."""

    type: ClassVar[str] = "test.staller"
    title: ClassVar[str] = "Staller"
    category: ClassVar[str] = "test"
    inline: ClassVar[bool] = True
    Inputs = ModuleInputs

    def execute(self, inputs: ModuleInputs, ctx: StepContext) -> Result:
        stall()
        return Result(None)


def stall() -> None:
    """Compute in C for an hour, holding Python's interpreter lock and ignoring signals."""
    sum(range(10**12))


def leave_mark(ctx: StepContext) -> int:
    """Append a mark and commit it at once; return how many marks this step has left so far."""
    run, token = held(ctx)
    facts = {
        "key": ctx.idempotency_key,
        "execution": ctx.execution_id,
        "step": ctx.step_path,
        "attempt": ctx.attempt,
        "run": run,
        "token": token,
        "pid": os.getpid(),
    }
    with _lock:
        own = _own_connection(os.getpid())
        if own.closed or own.broken:
            _own_connection.cache_clear()
            own = _own_connection(os.getpid())
        try:
            row = own.execute(MARK, facts).fetchone()
        except psycopg.OperationalError:
            # An earlier test cut it; that is no failure of this step.
            _own_connection.cache_clear()
            own = _own_connection(os.getpid())
            row = own.execute(MARK, facts).fetchone()
    assert row is not None
    return int(row[0])


def held(ctx: Any) -> tuple[Any, int | None]:
    """Return the run and the token under which the step executes now."""
    work = getattr(getattr(ctx._details, "__self__", None), "work", None)
    return (None, None) if work is None else (work.run_id, work.token)


def linger(seconds: float, ctx: StepContext, *, stubborn: bool) -> None:
    """Wait this long, or until cancelled; with `stubborn`, ignore cancellation and time-out."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and (stubborn or not ctx.cancelled()):
        try:
            time.sleep(min(0.05, max(0, until - time.monotonic())))
        except StepTimeout:
            if not stubborn:
                raise


_lock = RLock()


@lru_cache(maxsize=4)
def _own_connection(pid: int) -> psycopg.Connection[Any]:
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    known = {n: given[n] for n in names if given.get(n)}
    # Nothing prepared: there may be a pooler in between.
    return psycopg.connect(autocommit=True, prepare_threshold=None, **known)


def register() -> None:
    """Register the modules in this process."""
    if "test.effect" not in registry.specs():
        registry.add(Effect())
        registry.add(Odd())
        registry.add(Pure())
        registry.add(Sleeper())
        registry.add(Spender())
        registry.add(Staller())
        registry.add(Large())
    if "test.knocker" not in registry.specs():
        registry.add(knocking_step.Knocker())
    if "test.row" not in registry.specs():
        registry.add(row_steps.MODULE)
        registry.add(agent_step.MODULE)


def install() -> None:
    """Register the modules in this process, and create their tables in its database."""
    register()
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
        cursor.execute(row_steps.CREATE)


def marks(execution_id: Any) -> list[dict[str, Any]]:
    """Return the marks of an execution, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, step, attempt, run, token, pid, at FROM test_effects "
            "WHERE execution = %s ORDER BY id",
            [execution_id],
        )
        names = ("key", "step", "attempt", "run", "token", "pid", "at")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def forget() -> None:
    """Close this process's own connection, so that the database can be dropped."""
    if _own_connection.cache_info().currsize:
        _own_connection(os.getpid()).close()
        _own_connection.cache_clear()
