"""Classify each failure once, in one place: whether to retry the step, and what to record.

Library errors are matched by name, so that no library is imported only for a comparison. Unknown
errors are PERMANENT, because repeating an error that is not understood does more harm than asking a
person.
"""

import errno
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from executions.definition.templates import TemplateError, TemplateTimeout
from runners.failures.failure_text import (
    own_frames,
    readable,
    storable_details,
    storable_text,
)
from runners.failures.retry import parse_retry_after
from runners.modules.base import StepError
from runners.secrets.scrubbing import Scrubber
from runners.states import ErrorType

MAX_MESSAGE_CHARACTERS = 2_000
MAX_CAUSES = 10
MAX_FINGERPRINT = 200

_TRANSIENT, _PERMANENT, _TIMEOUT = ErrorType.TRANSIENT, ErrorType.PERMANENT, ErrorType.TIMEOUT


@dataclass(frozen=True, slots=True)
class Failure:
    """The record of a failed attempt; PostgreSQL can store all of its values.

    `fingerprint` is the module's name for this kind of failure, and `target` is the system that the
    step called; both may be empty. `http_status` is the status of the target's response, if the
    target speaks HTTP.
    """

    error_type: ErrorType
    message: str
    exception: str
    retry_after: float | None = None
    details: Any = None
    traceback: str = ""
    fingerprint: str = ""
    target: str = ""
    http_status: int | None = None


# If several classes of an error are listed here, the most specific class decides.
BY_CLASS: dict[str, ErrorType] = {
    "httpx.ConnectTimeout": _TRANSIENT,
    "httpx.PoolTimeout": _TRANSIENT,
    "httpx.TimeoutException": _TIMEOUT,
    "httpx.NetworkError": _TRANSIENT,
    "httpx.RemoteProtocolError": _TRANSIENT,
    "httpx.ProxyError": _TRANSIENT,
    "requests.exceptions.ConnectionError": _TRANSIENT,
    "requests.exceptions.ConnectTimeout": _TRANSIENT,
    "requests.exceptions.Timeout": _TIMEOUT,
    "requests.exceptions.ChunkedEncodingError": _TRANSIENT,
    "urllib.error.URLError": _TRANSIENT,
    "http.client.RemoteDisconnected": _TRANSIENT,
    "http.client.IncompleteRead": _TRANSIENT,
    "psycopg.OperationalError": _TRANSIENT,
    "psycopg.InterfaceError": _TRANSIENT,
    "psycopg_pool.PoolTimeout": _TRANSIENT,
    "django.db.utils.OperationalError": _TRANSIENT,
    "django.db.utils.InterfaceError": _TRANSIENT,
    "sqlalchemy.exc.OperationalError": _TRANSIENT,
    "sqlalchemy.exc.InterfaceError": _TRANSIENT,
    "sqlalchemy.exc.TimeoutError": _TRANSIENT,  # no connection of the pool became free in time
    "redis.exceptions.ConnectionError": _TRANSIENT,
    "redis.exceptions.TimeoutError": _TRANSIENT,
    "redis.exceptions.BusyLoadingError": _TRANSIENT,
    "redis.exceptions.TryAgainError": _TRANSIENT,
    "redis.exceptions.AuthenticationError": _PERMANENT,
    "kombu.exceptions.OperationalError": _TRANSIENT,
    "kombu.exceptions.ConnectionLimitExceeded": _TRANSIENT,
    "amqp.exceptions.RecoverableConnectionError": _TRANSIENT,
    "amqp.exceptions.RecoverableChannelError": _TRANSIENT,
    # A sealing error is not the step's fault and may pass, unless a value cannot be opened at all.
    "executions.sealing.errors.SealingError": _TRANSIENT,
    "executions.sealing.errors.SealBroken": _PERMANENT,
    "executions.payload_store.errors.PayloadStoreUnavailable": _TRANSIENT,
    "smtplib.SMTPServerDisconnected": _TRANSIENT,
    "billiard.exceptions.SoftTimeLimitExceeded": _TIMEOUT,
    "billiard.exceptions.TimeLimitExceeded": _TIMEOUT,
    "builtins.TimeoutError": _TIMEOUT,
    "subprocess.TimeoutExpired": _TIMEOUT,
    "builtins.ConnectionError": _TRANSIENT,
    "builtins.InterruptedError": _TRANSIENT,
    "builtins.BlockingIOError": _TRANSIENT,
    "socket.gaierror": _TRANSIENT,
    "socket.herror": _TRANSIENT,
    "ssl.SSLError": _TRANSIENT,
    "ssl.SSLCertVerificationError": _PERMANENT,
}

# Full SQLSTATEs, or classes of two characters (PostgreSQL documentation, appendix A).
BY_SQLSTATE: dict[str, ErrorType] = {
    "40001": _TRANSIENT,  # serialization_failure
    "40P01": _TRANSIENT,  # deadlock_detected
    "55P03": _TRANSIENT,  # lock_not_available
    "25006": _TRANSIENT,  # read_only_sql_transaction, shortly after a failover
    "57014": _TIMEOUT,  # query_canceled: statement_timeout
    "57P01": _TRANSIENT,  # admin_shutdown
    "57P02": _TRANSIENT,  # crash_shutdown
    "57P03": _TRANSIENT,  # cannot_connect_now
    "57P05": _TRANSIENT,  # idle_session_timeout
    "25P03": _TRANSIENT,  # idle_in_transaction_session_timeout
    "08": _TRANSIENT,  # connection exceptions
    "53": _TRANSIENT,  # insufficient resources: disk full, too many connections
}

BY_ERRNO: dict[int, ErrorType] = dict.fromkeys(
    (
        errno.EHOSTUNREACH,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.EHOSTDOWN,
        errno.EADDRNOTAVAIL,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOBUFS,
        errno.EBUSY,
        errno.EIO,
    ),
    _TRANSIENT,
)


def classify(error: BaseException, scrub: Scrubber | None = None) -> Failure:
    """Return the failure for an error, with values that can be stored; never raises.

    `scrub` removes the values of the step's secrets from the failure's texts.
    """
    retry_after, details, fingerprint = None, None, ""
    if isinstance(error, StepError):
        error_type, said = error.error_type, readable(error.message)
        message = _message(error) if said is None else said
        retry_after, details = error.retry_after, error.details
        fingerprint = readable(error.fingerprint) or ""
    elif isinstance(error, ValidationError):
        error_type, message, details = _PERMANENT, *_validation(error)
    else:
        error_type, message = error_type_of(error), _message(error)
        retry_after = _retry_after(error)
    if scrub is not None:
        message, fingerprint = scrub.message(message), scrub.message(fingerprint)
    return Failure(
        error_type=error_type,
        message=storable_text(message, MAX_MESSAGE_CHARACTERS),
        exception=storable_text(type(_origin(error)).__name__, 200),
        retry_after=retry_after,
        details=storable_details(details, None if scrub is None else scrub.details),
        traceback=own_frames(error),
        fingerprint=storable_text(fingerprint, MAX_FINGERPRINT),
        http_status=_http_status(error),
    )


def template_failure(error: TemplateError, path: str) -> Failure:
    """Return the failure of a step whose inputs could not be rendered, or took too long."""
    late = isinstance(error, TemplateTimeout)
    return Failure(
        error_type=ErrorType.TIMEOUT if late else ErrorType.PERMANENT,
        message=storable_text(f"Step {path}: {error}", MAX_MESSAGE_CHARACTERS),
        exception=type(error).__name__,
        retry_after=None,
        details=None,
        traceback="",
    )


def _origin(error: BaseException) -> BaseException:
    """Return the cause of a StepError, because the cause's class is more specific.

    Return any other error, or a StepError without a cause, unchanged.
    """
    return error.__cause__ or error if isinstance(error, StepError) else error


def status_error_type(status: int) -> ErrorType:
    """Return the error type of an HTTP status of 400 or more (docs/explanation/failures.md)."""
    return _TRANSIENT if status >= 500 or status in (408, 425, 429) else _PERMANENT


def error_type_of(error: BaseException) -> ErrorType:
    """Return the error type of an exception or its first known cause; PERMANENT if all are unknown.

    An invalid certificate anywhere in the chain of causes is PERMANENT.
    """
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _PERMANENT
    for cause in _causes(error):
        found = _by_sqlstate(cause) or _by_status(cause) or _by_errno(cause) or _by_class(cause)
        if found is not None:
            return found
    return _PERMANENT


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and the chain of its causes, without implicit contexts.

    A cause is the error after `raise … from`; without one, an exception in the first argument.
    """
    current: Any = error
    for _ in range(MAX_CAUSES):
        if not isinstance(current, BaseException):
            return
        yield current
        # If a library uses `raise … from None`, the error's first argument is often the cause.
        current = current.__cause__ or (current.args[0] if current.args else None)


def _by_sqlstate(error: BaseException) -> ErrorType | None:
    # Errors of Django and SQLAlchemy have no SQLSTATE. Their cause, an error of psycopg, has one.
    original = error.__cause__ or getattr(error, "orig", None)
    state = getattr(error, "sqlstate", None) or getattr(original, "sqlstate", None)
    if not isinstance(state, str):
        return None
    return BY_SQLSTATE.get(state) or BY_SQLSTATE.get(state[:2]) or _PERMANENT


def _by_status(error: BaseException) -> ErrorType | None:
    """Return the error type for an error's HTTP status or SMTP code; None if it has neither.

    Errors of httpx and requests have a response; errors of urllib have a code.
    """
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None and type(error).__module__ == "urllib.error":
        status = getattr(error, "code", None)
    if status is None and type(error).__module__ == "smtplib":
        return _by_smtp(error)
    return status_error_type(status) if isinstance(status, int) else None


def _http_status(error: BaseException) -> int | None:
    """Return the HTTP status that caused a failure, as the module or a library reports it.

    Returns None if no status is reported.
    """
    told = error.details if isinstance(error, StepError) else None
    found = [told.get("status")] if isinstance(told, dict) else []
    for cause in _causes(error):
        found.append(getattr(getattr(cause, "response", None), "status_code", None))
        if type(cause).__module__ == "urllib.error":
            found.append(getattr(cause, "code", None))
    return next((s for s in found if type(s) is int and 100 <= s <= 999), None)


def _by_smtp(error: BaseException) -> ErrorType | None:
    """Return the error type of an SMTP code: 400 to 499 is temporary, higher codes are permanent.

    Returns None if the error has no such code. See RFC 5321, section 4.2.1.
    """
    code = getattr(error, "smtp_code", None)
    refused = getattr(error, "recipients", None)
    if code is None and isinstance(refused, dict) and refused:
        code = min(answer[0] for answer in refused.values())
    if not isinstance(code, int) or code < 400:
        return None
    return _TRANSIENT if code < 500 else _PERMANENT


def _by_errno(error: BaseException) -> ErrorType | None:
    return BY_ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None


def _by_class(error: BaseException) -> ErrorType | None:
    for kind in type(error).__mro__:
        found = BY_CLASS.get(f"{kind.__module__}.{kind.__qualname__}")
        if found is not None:
            return found
    return None


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    return parse_retry_after(value, datetime.now(UTC)) if isinstance(value, str) else None


def _message(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return "MemoryError: the step ran out of memory; give it less data or its worker more"
    if (text := readable(error)) is None:
        return f"{name} (its message could not be read)"
    return f"{name}: {text}" if text else name


def _validation(error: ValidationError) -> tuple[str, list[dict[str, str]]]:
    """Return the fields' problems as one string and as a list (at most 100), without the values."""
    problems = [
        {
            "field": ".".join(map(str, problem["loc"])) or "(all)",
            "code": problem["type"],
            "message": problem["msg"].removeprefix("Value error, "),
        }
        for problem in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    sentences = "; ".join(f"{problem['field']}: {problem['message']}" for problem in problems)
    return f"{error.title} do not fit: {sentences}", problems[:100]
