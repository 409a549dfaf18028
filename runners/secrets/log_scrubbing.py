"""Scrubs the process's log lines while a step uses secrets: libraries log URLs, headers and errors.

By a log record factory, so before any handler, and for every thread, since a module may start
some. It is in place from a process's first use of a secret on.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from runners.secrets.scrubbing import Scrubber

_lock = Lock()
_in_use: tuple[Scrubber, ...] = ()
_formatter = logging.Formatter()


@contextmanager
def scrubbed_logs(scrub: Scrubber) -> Iterator[None]:
    """The block in which log lines may hold the secrets that `scrub` knows."""
    global _in_use  # noqa: PLW0603 - replaced whole, so that who reads it needs no lock
    _install()
    with _lock:
        _in_use = (*_in_use, scrub)
    try:
        yield
    finally:
        with _lock:
            others = list(_in_use)
            others.remove(scrub)
            _in_use = tuple(others)


@lru_cache(maxsize=1)
def _install() -> None:
    make = logging.getLogRecordFactory()

    def scrubbed(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = make(*args, **kwargs)
        if _in_use:
            _scrub(record, _in_use)
        return record

    logging.setLogRecordFactory(scrubbed)


def _scrub(record: logging.LogRecord, scrubbers: tuple[Scrubber, ...]) -> None:
    """Bring message and traceback into their final form, without secrets."""
    try:
        text = record.getMessage()
    # Arguments that do not fit would be printed as they are.
    except Exception:
        text = "(a log message that could not be put together)"
    if record.exc_info:
        record.exc_text = _without(_formatter.formatException(record.exc_info), scrubbers)
        record.exc_info = None
    record.msg, record.args = _without(text, scrubbers), None


def _without(text: str, scrubbers: tuple[Scrubber, ...]) -> str:
    for scrub in scrubbers:
        text = scrub.message(text)
    return text
