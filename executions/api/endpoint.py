"""The base of all API views: permissions, strict bodies and queries, and the actor.

`Endpoint` sets every default that REST framework would otherwise take from a project's settings
(`pinned.py`).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.core.signals import got_request_exception
from django.db import connections, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.log import log_response
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.metadata import SimpleMetadata
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from executions.access import Powers, User, obtain
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.row_security import LIMITS_ITSELF, limit_stream, limit_to
from executions.admission.rates import Rate
from executions.api import problems, throttles
from executions.api.authentication import (
    ApiTokenAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from executions.api.fields import Body
from executions.api.merged_lists import merged
from executions.api.paging import link_of
from executions.api.parsing import JsonParser
from executions.api.pinned import (
    FRAMEWORK,
    AcceptHeader,
    JsonRenderer,
    added_authentication,
    surroundings,
)
from executions.database import ahead, row_scope
from executions.database.routing import is_undecided
from executions.database.statements import BoundStatement
from executions.vendor_seams.drf_spectacular_schema import OwnSchema
from executions.vendor_seams.rest_framework_requests import django_request

CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Endpoint(APIView):
    """The base of views: each view serves one URL, and its methods are operations of the API."""

    settings = FRAMEWORK
    authentication_classes: Any = [
        ApiTokenAuthentication,
        TokenAuthentication,
        SessionAuthentication,
    ]
    permission_classes: Any = [IsAuthenticated]
    throttle_classes: Any = []
    renderer_classes: Any = [JsonRenderer]
    parser_classes: Any = [JsonParser]
    content_negotiation_class: Any = AcceptHeader
    metadata_class: Any = SimpleMetadata
    versioning_class: Any = None
    schema: Any = OwnSchema()
    # Whether a POST may start executions.
    starts = False
    # Whether an overloaded process still serves it. Only for cheap endpoints that users or workers
    # need to finish work.
    urgent = False
    # The methods that show secrets or change access. For these, a browser session needs a recent
    # sign-in if the plugin `mfa` requires one.
    sensitive: frozenset[str] = frozenset()
    # Whether requests without a valid sign-in are counted by address.
    counts_refusals = True

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return the view, which manages its own transactions even under ATOMIC_REQUESTS."""
        view: Any = super().as_view(**initkwargs)
        for alias in connections:
            view = transaction.non_atomic_requests(alias)(view)
        setattr(view, LIMITS_ITSELF, True)
        return view

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the response, which must not be cached unless the view allows it."""
        with surroundings(), ahead.reading(), row_scope.limited(None):
            response = limit_stream(super().dispatch(request, *args, **kwargs))
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Content-Language", "en")
        return response

    def likely(self, user_id: Any) -> Sequence[BoundStatement]:
        """Return queries to run with the query that authenticates this account; none by default."""
        return ()

    def perform_authentication(self, request: Request) -> None:
        """Authenticate the caller, then limit the request to the rows that the caller may see."""
        super().perform_authentication(request)
        limit_to(request.user)
        own: Any = self  # REST framework looks up the handler after this call
        if is_undecided() and request.method == "GET" and hasattr(own, "get"):
            own.get = merged(own.get, partial(link_of, request))

    def get_authenticators(self) -> list[Any]:
        """Return the authenticators of Valkyr and of the project; none for a public view."""
        ours = super().get_authenticators()
        return [*ours, *(added() for added in added_authentication())] if ours else []

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return the request, read as UTF-8 regardless of the charset that the caller declares."""
        request.encoding = "utf-8"
        return super().initialize_request(request, *args, **kwargs)

    def rates(self) -> list[Rate]:
        """Return the rate limits that apply to this request."""
        starts = self.starts and self.request.method == "POST"
        return throttles.of_principal(self.request, starts=starts)

    def check_throttles(self, request: Request) -> None:
        """Count the request against its rate limits. Raises TooMany if a limit is exceeded."""
        throttles.check(self.rates())

    def handle_exception(self, exc: Exception) -> Response:
        """Return the response for an error; 429 instead of 401 after too many rejected requests.

        With DEBUG, an unexpected error is raised again.
        """
        if self.counts_refusals and isinstance(exc, NotAuthenticated | AuthenticationFailed):
            try:
                throttles.check([throttles.of_refusal(self.request)])
            except throttles.TooMany as error:
                exc = error
        try:
            return super().handle_exception(exc)
        except Exception as error:
            if error is not exc or django_settings.DEBUG:
                raise
            response: Response = self._failed(error)
            return response

    def _failed(self, error: Exception) -> Any:
        """Return an unexpected error as a problem, even if the project has its own error page.

        The error is logged and signalled, so that error collectors receive it.
        """
        request = django_request(self.request)
        answer: Any = problems.failed(request)
        got_request_exception.send(sender=type(self), request=request)
        said = ("%s: %s", answer.reason_phrase, request.path)
        log_response(*said, response=answer, request=request, exception=error)
        return answer

    @property
    def user(self) -> User:
        """Return the signed-in user."""
        return self.request.user

    def gone(self) -> bool:
        """Return whether the client has disconnected; False if the server cannot report it."""
        tell = getattr(self.request, "scope", {}).get("valkyr.gone")
        return tell is not None and tell()

    @property
    def actor(self) -> Actor:
        """Return the signed-in user as actor, for the audit trail."""
        return Actor.of_request(self.request)

    def body(self, form: type[Body]) -> dict[str, Any]:
        """Return the body's values, keyed by field. Raises ValidationError with every problem."""
        return _validated(form(data=self.request.data))

    def query(self, form: type[Body]) -> dict[str, Any]:
        """Return the query's values, keyed by field. Raises ValidationError with every problem."""
        return _validated(form(data=self.request.query_params.dict()))

    def perform(
        self,
        operation: Operation,
        rows: QuerySet[Any],
        pk: UUID,
        given: type[Body] | Mapping[str, Any],
    ) -> tuple[Any, Powers]:
        """Perform the operation on the row; return its result and the user's powers on the row.

        `given` is the operation's data, or the form that reads it from the request's body. Raises
        the errors of `obtain` and of the operation, and ValidationError.
        """
        _, may = obtain(self.user, rows, pk, operation.needs)
        data = given if isinstance(given, Mapping) else self.body(given)
        return operation.apply(pk, self.actor, data), may


def _validated(form: Body) -> dict[str, Any]:
    form.is_valid(raise_exception=True)
    values: dict[str, Any] = form.validated_data
    return values


@extend_schema(exclude=True)
class Nowhere(Endpoint):
    """The view of unknown URLs; it requires a sign-in, to hide which URLs exist."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then raise Http404 for every method."""
        super().initial(request, *args, **kwargs)
        raise Http404
