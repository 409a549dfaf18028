"""Return the API's errors as `application/problem+json` (RFC 9457): stable codes, no tracebacks.

`handle` is for expected errors in the API's views; the functions at the end are for other errors,
including those outside the API's views.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from math import ceil
from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults
from psycopg.errors import IdleInTransactionSessionTimeout
from rest_framework import exceptions
from rest_framework.settings import api_settings

from executions import access, addresses, errors
from executions.accounts.errors import InUse, LastAdministrator, Taken
from executions.api.throttles import TooMany
from executions.configuration import settings
from executions.credentials import CredentialInUse, NameTaken
from executions.database import cells, routing
from executions.database.moving import is_moving
from executions.definition.graph.problem import DefinitionError, DefinitionProblem
from executions.payload_store import PayloadStoreUnavailable
from executions.publishing.taking_over import NotFromCode
from executions.publishing.versioning import FromCode, PublishedFromGit, SlugTaken
from executions.sealing import SealingError

# Convert REST framework's nested validation errors to a flat list of paths, codes and messages.


def flat(details: Any) -> list[DefinitionProblem]:
    """Return the problems in a result of `get_full_details()`; its leaves are `{message, code}`."""
    return list(_leaves(details, ""))


def _leaves(details: Any, path: str) -> Iterator[DefinitionProblem]:
    if isinstance(details, list):
        for item in details:
            yield from _leaves(item, path)
        return
    if _is_leaf(details):
        yield DefinitionProblem(path, str(details["code"]), str(details["message"]))
        return
    for key, item in details.items():
        yield from _leaves(item, _below(path, key))


def _is_leaf(details: dict[Any, Any]) -> bool:
    return set(details) == {"message", "code"} and isinstance(details["message"], str)


def _below(path: str, key: Any) -> str:
    if key == api_settings.NON_FIELD_ERRORS_KEY:
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
RETRY_SECONDS = 2

STATUSES: dict[type[errors.ValkyrError], int] = {
    errors.NotFound: 404,
    errors.WrongState: 409,
    errors.NotPublished: 409,
    errors.WorkflowDisabled: 409,
    errors.Unchanged: 409,
    errors.KeyReused: 409,
    errors.Deadlocked: 409,
    errors.RequestInProgress: 409,
    errors.ConcurrencyConflict: 409,
    SlugTaken: 409,
    FromCode: 409,
    PublishedFromGit: 409,
    NotFromCode: 409,
    NameTaken: 409,
    CredentialInUse: 409,
    Taken: 409,
    InUse: 409,
    LastAdministrator: 409,
    errors.StaleRevision: 412,
    errors.QuotaExceeded: 429,
    errors.SearchSealed: 400,
    access.Forbidden: 403,
    SealingError: 503,
    PayloadStoreUnavailable: 503,
}
INVALID = 422
# RFC 9110's names; Python before 3.13 has older ones.
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}


def title(status: int) -> str:
    """Return a status's title, independent of the Python version."""
    return TITLES.get(status) or HTTPStatus(status).phrase


def problem(
    status: int,
    detail: str,
    *,
    code: str | None = None,
    problems: Iterable[Any] | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> JsonResponse:
    """Return a response in RFC 9457's form; `problems` are objects with path, code and message."""
    called = title(status)
    code = code or called.lower().replace(" ", "_").replace("-", "_")
    body = {"type": addresses.explanation(code), "title": called, "status": status}
    body |= {"detail": detail, "code": code, **more}
    if problems is not None:
        body["errors"] = [{"path": p.path, "code": p.code, "message": p.message} for p in problems]
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def handle(error: Exception, context: dict[str, Any]) -> HttpResponseBase | None:
    """Return the response for an error in a view.

    Returns None for an unexpected error, which becomes a 500.
    """
    answers: list[tuple[Any, Callable[[Any], JsonResponse]]] = [
        (errors.ValkyrError, _of_ours),
        (DefinitionError, _of_definition),
        (exceptions.ValidationError, _of_validation),
        (exceptions.APIException, _of_framework),
        (DataError, _of_value),
        ((Http404, PermissionDenied, SuspiciousOperation), _of_django),
    ]
    if _is_away(error):
        return _of_database(error)
    return next((answer(error) for kind, answer in answers if isinstance(error, kind)), None)


def _of_ours(error: errors.ValkyrError) -> JsonResponse:
    status = next((STATUSES[k] for k in type(error).__mro__ if k in STATUSES), INVALID)
    headers: dict[str, str] = {}
    more: dict[str, Any] = {}
    if isinstance(error, errors.QuotaExceeded | errors.RequestInProgress):
        headers["Retry-After"] = str(max(1, ceil(error.retry_after)))
    if isinstance(error, errors.QuotaExceeded | errors.StaleRevision):
        more |= error.facts
    if isinstance(error, errors.WrongState):
        more["state"] = error.state
    if isinstance(error, errors.ConcurrencyConflict) and error.holder_id is not None:
        more["holderId"] = str(error.holder_id)
    found = error.problems if isinstance(error, errors.WithProblems) else None
    return problem(status, error.message, code=error.code, problems=found, headers=headers, **more)


def _of_definition(error: DefinitionError) -> JsonResponse:
    return problem(
        INVALID,
        "The text is not a definition.",
        code="invalid_definition",
        problems=error.problems,
    )


def _of_validation(error: exceptions.ValidationError) -> JsonResponse:
    found = flat(error.get_full_details())
    fields = ", ".join(sorted({p.path for p in found if p.path})[:10])
    detail = f"Not valid: {fields}." if fields else "The request is not valid."
    return problem(INVALID, detail, code="invalid", problems=found)


def _of_framework(error: exceptions.APIException) -> JsonResponse:
    headers = {}
    if auth := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth
    if isinstance(error, TooMany):
        headers |= error.headers
    first = flat(error.get_full_details())[0]
    return problem(error.status_code, first.message, code=first.code, headers=headers)


def _is_away(error: BaseException) -> bool:
    """Return whether the error means that the database cannot serve requests at the moment."""
    if isinstance(error, InternalError):
        return isinstance(error.__cause__, IdleInTransactionSessionTimeout)
    return isinstance(error, OperationalError | InterfaceError)


def _of_database(error: BaseException) -> JsonResponse:
    if is_moving(error):
        return problem(
            503,
            "The workspace is being moved to another cell. Nothing was changed. Try again in a "
            "moment.",
            code="workspace_moving",
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    log.error("the database did not answer: %s", error)
    cell = routing.cell()
    which = f"The database of the cell {cell!r}" if cell else "The database"
    return problem(
        503,
        f"{which} does not answer. Try again in a moment. If the request changes something, first "
        "check whether the change was saved, or send the same Idempotency-Key again.",
        code="database_unavailable",
        headers={"Retry-After": str(RETRY_SECONDS)},
        **({"cell": cell} if cell else {}),
    )


def _page_without_database(request: HttpRequest, error: BaseException) -> HttpResponseBase:
    """Return the admin's 503 page, which needs no database query, and log the error."""
    log.error("the database did not answer: %s", error)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    # The page offers other cells for a list only: an object is in one cell.
    listed = "" if cells.alias_in([request.path]) else request.path
    cell, known = routing.cell(), settings().cells
    others = [one for one in known if one != cell] if listed else []
    page = render_to_string("503.html", {"cell": cell, "listed": listed, "others": others})
    return HttpResponse(page, status=503, headers=headers)


def _of_value(error: Exception) -> JsonResponse:
    log.error("a value reached the database that it cannot store: %s", error)
    return problem(INVALID, "The request contains a value that cannot be stored.", code="bad_value")


def _of_django(error: Exception) -> JsonResponse:
    if isinstance(error, Http404):
        return problem(404, "There is no resource at this address.", code="unknown_address")
    if isinstance(error, PermissionDenied):
        return problem(403, str(error) or "You do not have permission for this operation.")
    if isinstance(error, RequestDataTooBig):
        return problem(413, "The body is too large.", code="body_too_large")
    # Only BadRequest has a text written for the caller; texts of other errors quote the request.
    said = str(error) if isinstance(error, BadRequest) else ""
    return problem(400, said or "The request is not acceptable.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return the response for Django's handler404: the admin's page, or a problem."""
    if _is_admin(request):
        return defaults.page_not_found(request, exception)
    return problem(404, f"There is no resource at {request.path[:200]}.", code="unknown_address")


def refused(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return the response for Django's handler403: the admin's page, or a problem."""
    if _is_admin(request):
        return defaults.permission_denied(request, exception)
    return problem(403, "You do not have permission for this operation.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Return a problem for Django's handler400; its status is 413 for a body above the limit."""
    return _of_django(exception)


def failed(request: HttpRequest) -> HttpResponseBase:
    """Return the response for Django's handler500; 503 if the database does not respond."""
    error = sys.exc_info()[1]
    if error is not None and _is_away(error):
        return _page_without_database(request, error) if _is_admin(request) else _of_database(error)
    if _is_admin(request):
        return defaults.server_error(request)
    return problem(500, "The server failed. Its log contains the cause.")


def _is_admin(request: HttpRequest) -> bool:
    admin = addresses.admin_or_none("index")
    return bool(admin) and request.path.startswith(admin)
