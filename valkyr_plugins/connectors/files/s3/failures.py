"""What a failure of S3 means: who refused what, and whether to ask again."""

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
    SSLError,
)

from runners.public.modules import ErrorType, StepError, error_type_of, status_error_type
from valkyr_plugins.connectors.files.places import FileLocation
from valkyr_plugins.connectors.files.s3.connection import S3Connection
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS

MISSING = 404
PAST_END = 416
CONFLICT = (409, 412)  # something is there, where nothing was to be


class ObjectMissing(StepError):
    """There is no such object or bucket."""


class ObjectExists(StepError):
    """There is an object already."""


class PastEnd(StepError):
    """The range begins past the end of the object."""


def failure_of(error: Exception, place: FileLocation, connection: S3Connection) -> StepError:
    """The failure in our words; what the server said is kept short, and holds no key."""
    name, host = f"s3://{place.rest}", connection.endpoint.host
    if connection.guard is not None and connection.guard.refused:
        return StepError(
            f"{host} is at {', '.join(connection.guard.refused[:4])}, a private or special "
            "address, which file steps may not reach: use a public address, or let an "
            f"administrator set VALKYR_S3_ENDPOINT or add its range to {ALLOWED_NETWORKS}"
        )
    answer = _answer(error)
    if answer is not None:
        return _refusal(answer, name, host)
    if isinstance(error, TimeoutError | ReadTimeoutError):
        return StepError(f"{name}: {host} did not answer in time", ErrorType.TIMEOUT)
    if isinstance(error, SSLError | ParamValidationError):
        return StepError(f"{name}: {host}: {type(error).__name__}: {str(error)[:300]}")
    passing = isinstance(error, HTTPClientError | BotoCoreError)
    return StepError(
        f"{name}: {host}: {type(error).__name__}: {str(error)[:300]}",
        ErrorType.TRANSIENT if passing else error_type_of(error),
    )


def _answer(error: BaseException | None) -> ClientError | None:
    """The server's answer, which s3fs hides behind an error of Python's own."""
    while error is not None:
        if isinstance(error, ClientError):
            return error
        error = error.__cause__
    return None


def _refusal(answer: ClientError, name: str, host: str) -> StepError:
    said = answer.response.get("Error", {})
    code, message = str(said.get("Code", "")), str(said.get("Message", ""))[:300]
    status = int(answer.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if status == MISSING:
        return ObjectMissing(f"there is no file {name} at {host} ({code})")
    if status == PAST_END:
        return PastEnd(f"{name} ends before the first byte that is asked for")
    if status in CONFLICT and code in ("PreconditionFailed", "ConditionalRequestConflict", "412"):
        return ObjectExists(f"{name} exists already")
    return StepError(f"{name}: {host} answered {status} {code}: {message}", _class(status, code))


def _class(status: int, code: str) -> ErrorType:
    """By HTTP status; these two codes come with 400 and pass by themselves."""
    if code in ("RequestTimeout", "SlowDown"):
        return ErrorType.TRANSIENT
    return status_error_type(status) if status >= 400 else ErrorType.PERMANENT
