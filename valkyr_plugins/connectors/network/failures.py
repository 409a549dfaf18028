"""How a failed HTTP exchange is told: which request it was, what happened, may it be repeated."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus

import httpx

from runners.public.modules import StepError, error_type_of, parse_retry_after, status_error_type
from valkyr_plugins.connectors.network.body import read_start

SHOWN_BODY_BYTES = 2_000


class TooLong(StepError):
    """The answer's body goes past the cap."""


def request_name(request: httpx.Request, shown: str = "") -> str:
    """Method and address, without the query and user, which may be secret.

    `shown` stands for an address that is secret as a whole.
    """
    if shown:
        return f"{request.method} {shown}"
    url = request.url
    port = f":{url.port}" if url.port is not None else ""
    return f"{request.method} {url.scheme}://{url.host}{port}{url.path}"


def require_accepted(
    response: httpx.Response, accepted: Collection[int | str], shown: str = ""
) -> None:
    """Raise StepError for an answer of 400 or more that `accepted` (404, `5xx`) does not list."""
    status = response.status_code
    if status < 400 or {status, f"{status // 100}xx"}.intersection(accepted):
        return
    start = read_start(response, SHOWN_BODY_BYTES)
    raise refused(response, start, request_name(response.request, shown))


def refused(response: httpx.Response, body: bytes, name: str, why: str = "") -> StepError:
    """The failure that an answer of 400 or more is; `body` is its beginning, `why` its reason."""
    status = response.status_code
    said = f"{name} answered {status} {_phrase(status)}".rstrip()
    return StepError(
        f"{said}: {why}" if why else said,
        status_error_type(status),
        retry_after=retry_after(response),
        details={"status": status, "body": body[:SHOWN_BODY_BYTES].decode("utf-8", "replace")},
    )


def retry_after(response: httpx.Response) -> float | None:
    """What the answer's Retry-After asks for, in seconds from now."""
    return parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))


@contextmanager
def named_errors(request: httpx.Request, shown: str = "") -> Iterator[None]:
    """Tell which request failed: httpx's own messages do not."""
    try:
        yield
    except httpx.LocalProtocolError as error:
        # Its text quotes the header, which may be a credential.
        raise StepError(
            f"{request_name(request, shown)} cannot be sent: a header's name or value holds what "
            "HTTP forbids there, such as a line break"
        ) from error
    except httpx.HTTPError as error:
        raise StepError(
            f"{request_name(request, shown)}: {type(error).__name__}: {error}".rstrip(": "),
            error_type_of(error),
        ) from error


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
