"""Tasks as projects write them; workers and the test's own process import this module."""

import os
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from celery import Task, shared_task
from celery.exceptions import Ignore, Reject, SoftTimeLimitExceeded

import valkyr


@shared_task(name="corpus.add")
def add(x: Any, y: Any = 0) -> Any:
    return x + y


@shared_task(name="corpus.mul")
def mul(x: int, y: int) -> int:
    return x * y


@shared_task(name="corpus.total")
def total(numbers: list[int]) -> int:
    return sum(numbers)


@shared_task(name="corpus.given")
def given(*args: Any, **kwargs: Any) -> list[Any]:
    return [list(args), kwargs]


@shared_task(name="corpus.nothing")
def nothing() -> None:
    return None


@shared_task(name="corpus.fails")
def fails(*_: Any, word: str = "bad") -> None:
    raise ValueError(word, 7)


class ShopError(Exception):
    """An error class of the project."""


@shared_task(name="corpus.fails_its_own_way")
def fails_its_own_way() -> None:
    raise ShopError("no stock")


@shared_task(name="corpus.quiet", ignore_result=True)
def quiet(x: int = 1) -> int:
    return x + 1


@shared_task(name="corpus.ignores")
def ignores() -> None:
    raise Ignore


@shared_task(name="corpus.rejects")
def rejects() -> None:
    raise Reject("not mine", requeue=False)


@shared_task(name="corpus.seen", bind=True)
def seen(self: "Task[Any, Any]", *args: Any) -> list[Any]:
    request = self.request
    return [self.name, request.task, request.retries, list(request.args), request.id is not None]


@shared_task(name="corpus.again", bind=True, max_retries=5)
def again(self: "Task[Any, Any]", times: int) -> int:
    if self.request.retries < times:
        raise self.retry(countdown=0.05)
    return self.request.retries


@shared_task(name="corpus.climbs", bind=True, max_retries=None)
def climbs(self: "Task[Any, Any]", number: int) -> int:
    if number < 3:
        raise self.retry(args=(number + 1,), countdown=0.05)
    return number


@shared_task(name="corpus.climbs_by_name", bind=True)
def climbs_by_name(self: "Task[Any, Any]", number: int = 0) -> int:
    if number < 2:
        raise self.retry(kwargs={"number": number + 1}, countdown=0.05)
    return number


@shared_task(name="corpus.gives_up", bind=True, max_retries=1)
def gives_up(self: "Task[Any, Any]") -> None:
    try:
        raise KeyError("busy")  # noqa: TRY301 - as people write it
    except KeyError as error:
        raise self.retry(exc=error, countdown=0.05) from error


@shared_task(name="corpus.gives_up_without_an_error", bind=True, max_retries=1)
def gives_up_without_an_error(self: "Task[Any, Any]") -> None:
    raise self.retry(countdown=0.05)


@shared_task(name="corpus.never_again", bind=True, max_retries=0)
def never_again(self: "Task[Any, Any]") -> None:
    raise self.retry(exc=ValueError("once"), countdown=0.05)


@shared_task(
    name="corpus.auto",
    bind=True,
    autoretry_for=(LookupError,),
    retry_backoff=0.05,
    retry_jitter=False,
    max_retries=4,
)
def auto(self: "Task[Any, Any]", times: int) -> int:
    if self.request.retries < times:
        raise KeyError("busy")
    return self.request.retries


@shared_task(
    name="corpus.auto_ends",
    autoretry_for=(Exception,),
    dont_autoretry_for=(ValueError,),
    default_retry_delay=0.05,
    max_retries=1,
)
def auto_ends(kind: str) -> None:
    raise ValueError(kind) if kind == "value" else KeyError(kind)


class Counted(Task):  # type: ignore[type-arg]
    """A task base class of the project with a cached value, such as a shared connection."""

    _answer: int | None = None

    @property
    def answer(self) -> int:
        if self._answer is None:
            self._answer = 42
        return self._answer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return [self.answer, super().__call__(*args, **kwargs)]


@shared_task(name="corpus.counted", base=Counted)
def counted(x: int) -> int:
    return x


@shared_task(name="corpus.late", acks_late=True, reject_on_worker_lost=True)
def late(x: int) -> int:
    return x


@shared_task(name="corpus.tidies", soft_time_limit=0.3)
def tidies() -> str:
    try:
        time.sleep(20)
    except SoftTimeLimitExceeded:
        return "tidied"
    return "slept"


@shared_task(name="corpus.dates")
def dates(day: date) -> list[Any]:
    assert isinstance(day, date)
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    return [day + timedelta(days=1), Decimal("1.5"), UUID(int=7), moment, b"raw"]


@shared_task(name="corpus.is_a_date")
def is_a_date(values: list[Any]) -> list[str]:
    return [type(value).__name__ for value in values]


@shared_task(name="corpus.split")
def split(number: int) -> list[int]:
    return list(range(number))


@shared_task(name="corpus.unserializable")
def unserializable() -> Any:
    return object()


# ---- what leaves traces


@shared_task(name="corpus.note")
def note(path: str, word: str) -> str:
    with Path(path).open("a") as file:
        file.write(f"{word}\n")
    return word


@shared_task(name="corpus.note_after")
def note_after(result: Any, path: str) -> None:
    note(path, str(result))


@shared_task(name="corpus.on_error")
def on_error(request: Any, exc: BaseException, traceback: Any, path: str = "") -> None:
    note(path, f"{request.task} {type(exc).__name__} {exc}")


@shared_task(name="corpus.told_of")
def told_of(task_id: str, path: str = "") -> None:
    note(path, f"told of {len(task_id)}")


@shared_task(name="corpus.held", bind=True)
def held(self: "Task[Any, Any]", path: str, mark: str, number: int) -> int:
    """Write a mark, then wait while the file exists."""
    note(mark, f"{number} {self.request.id}")
    until = time.monotonic() + 60
    while number == 0 and Path(path).exists() and time.monotonic() < until:
        time.sleep(0.02)
    return number


class Busy(Exception):
    """A service that a task calls is busy."""


@shared_task(
    name="corpus.acts", bind=True, autoretry_for=(Busy,), default_retry_delay=0.05, max_retries=9
)
def acts(
    self: "Task[Any, Any]", before: Any, ledger: str, busy: int = 0, seconds: float = 0.05
) -> dict[str, Any]:
    """Have an outside effect, a line in the ledger, and only then wait, give up or return.

    Return a count: one more than the previous result, or than the sum of all previous ones.
    """
    note(ledger, self.request.id)
    time.sleep(seconds)
    if self.request.retries < busy:
        raise Busy
    many = before if isinstance(before, list) else [before]
    return {"count": 1 + sum(one["count"] for one in many if one), "id": self.request.id}


@shared_task(name="corpus.sleeps")
def sleeps(mark: str) -> None:
    note(mark, "began")
    time.sleep(20)


@shared_task(name="corpus.replaces", bind=True, autoretry_for=(Exception,), max_retries=3)
def replaces(self: "Task[Any, Any]") -> Any:
    return self.replace(add.s(1, 2))


@shared_task(name="corpus.adds_to_chord", bind=True)
def adds_to_chord(self: "Task[Any, Any]") -> Any:
    return self.add_to_chord(add.s(1, 2))


@shared_task(name="corpus.pays")
def pays(account: str, amount: int) -> str:
    if amount <= 0:
        raise ValueError(f"cannot pay {amount}")
    return f"{account}: {amount}"


@shared_task(name="corpus.charge", base=valkyr.DurableTask, bind=True)
def charge(self: "Task[Any, Any]", order: int, currency: str = "EUR") -> list[Any]:
    return [order, currency, self.request.id]


@shared_task(name="corpus.where", base=valkyr.DurableTask)
def where() -> str:
    return os.environ.get("VALKYR_PROCESS", "")
