"""Describe operations for the OpenAPI document: name, group, responses and errors."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from executions.api.fields import CamelCaseSerializer
from executions.api.idempotency import once
from executions.vendor_seams.drf_spectacular_schema import OwnSchema

PROBLEM = "application/problem+json"
REASONS = {
    400: "The request cannot be read.",
    401: "Not signed in.",
    403: "Your role does not allow it.",
    404: "Your workspaces do not contain this object.",
    405: "The address does not accept this method.",
    406: "The operation supports none of the accepted media types.",
    409: "Not possible in the current state.",
    410: "No step waits for this call any more.",
    412: "Another user changed the object in the meantime.",
    413: "The body is too large.",
    415: "The operation does not accept the body's media type.",
    422: "The request is not valid; `errors` lists the mistakes.",
    429: "A limit is reached; Retry-After gives the time to wait.",
    502: "The execution ended without success.",
    503: "A part that the server needs does not answer.",
}


ONCE = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description=(
        "For 24 hours, a request with the same key, body and caller gets the first response and "
        "has no further effect. Another body gets a 409 (`key_reused`), and so does a request "
        "while the first is running (`in_progress`). Errors are not stored. At most 200 visible "
        "characters."
    ),
)
REPLAYED = OpenApiParameter(
    "Idempotency-Replayed",
    str,
    OpenApiParameter.HEADER,
    response=[200, 201, 202],
    description="`true` if the response is the stored response to the first request with this key.",
)


class ProblemItem(CamelCaseSerializer):
    """One problem in a request: its path, a stable code and a message."""

    path = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    message = serializers.CharField()


class Problem(CamelCaseSerializer):
    """An error response in the form of RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField(help_text="Stable, for programs.")
    state = serializers.CharField(required=False, help_text="With 409: the current state.")
    revision = serializers.IntegerField(
        required=False, help_text="With 412, for a workflow: the current revision of its draft."
    )
    changedBy = serializers.CharField(  # noqa: N815 - the JSON's name
        required=False, help_text="With 412, for a workflow: the user who changed it last."
    )
    changedAt = serializers.DateTimeField(  # noqa: N815
        required=False, help_text="With 412, for a workflow: the time of that change."
    )
    errors = ProblemItem(many=True, required=False)  # type: ignore[assignment]


def operation(
    operation_id: str,
    tag: str,
    responses: dict[Any, Any],
    *,
    request: Any = None,
    errors: Sequence[int] = (),
    parameters: Sequence[Any] = (),
    public: bool = False,
    idempotent: bool = False,
) -> Callable[[Any], Any]:
    """Return a decorator that describes a view's method under its operation ID.

    With `idempotent`, requests can have an `Idempotency-Key`; the method succeeds once per caller
    and key.
    """
    statuses = {406, 422, 429, 503, *errors} | (set() if public else {401})
    if request is not None:
        statuses |= {400, 413, 415}
    if idempotent:
        statuses |= {409}
    answers = dict(responses)
    for status in sorted(statuses):
        answers[(status, PROBLEM)] = OpenApiResponse(Problem, description=REASONS[status])
    more: dict[str, Any] = {"auth": []} if public else {}
    describe = extend_schema(
        operation_id=operation_id,
        tags=[tag],
        request=request,
        responses=answers,
        parameters=[*parameters, *([ONCE, REPLAYED] if idempotent else [])],
        **more,
    )

    def described(method: Any) -> Any:
        wanted: Any = once(method) if idempotent else method
        wanted.kwargs = {"schema": OwnSchema}  # `extend_schema` extends this class
        made: Any = describe(wanted)
        made.operation_id = operation_id  # the name under which its requests are counted
        return made

    return described


def header(name: str, description: str) -> OpenApiParameter:
    """Return the OpenAPI description of a request header whose value is a string."""
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description)
