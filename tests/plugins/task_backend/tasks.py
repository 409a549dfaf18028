"""Tasks as a project writes them."""

import os
import time
from pathlib import Path
from typing import Any

from django_tasks import TaskContext, task


@task()
def double(number: int) -> int:
    return 2 * number


@task()
def given(*args: Any, **kwargs: Any) -> Any:
    return [list(args), kwargs]


@task()
async def later(number: int) -> int:
    return number + 1


@task(priority=10, queue_name="io")
def urgent() -> str:
    return "done"


@task(takes_context=True)
def told(context: TaskContext, word: str) -> list[Any]:
    result = context.task_result
    return [word, context.attempt, result.id, str(result.status), len(result.worker_ids)]


@task()
def broken(word: str) -> str:
    if word == "bad":
        raise ValueError(f"cannot take {word}")
    return word


@task()
def no_json() -> Any:
    return object()


@task(backend="patient", takes_context=True)
def flaky(context: TaskContext, failures: int) -> int:
    if context.attempt <= failures:
        raise KeyError("busy")
    return context.attempt


@task(backend="patient")
def stubborn() -> None:
    raise ValueError("never")


@task(backend="patient")
def lost_line() -> None:
    raise ConnectionResetError("cut")


@task()
def append(path: str, word: str) -> None:
    with Path(path).open("a") as file:
        file.write(f"{word}\n")


@task()
def held(path: str, mark: str) -> int:
    """Write a mark, then wait while the file exists."""
    with Path(mark).open("a") as file:
        file.write(f"{os.getpid()}\n")
    until = time.monotonic() + 60
    while Path(path).exists() and time.monotonic() < until:
        time.sleep(0.02)
    return os.getpid()


def plain(number: int) -> int:
    return number


renamed = task()(plain)
