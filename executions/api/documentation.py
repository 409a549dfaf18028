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
    404: "There is no such thing in your workspaces.",
    405: "This address has other methods.",
    406: "None of the accepted media types can be served.",
    409: "Not possible in the present state.",
    410: "Nobody waits for it any more.",
    412: "Somebody else changed it meanwhile.",
    413: "The body is too large.",
    415: "The body's media type is not taken.",
    422: "Something in the request is not valid; `errors` says what.",
    429: "A limit is reached; Retry-After says how long.",
    502: "The execution ended without success.",
    503: "A part the server needs does not answer.",
}


ONCE = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="For 24 hours the same key, body and caller get the answer of the first time, and "
    "nothing is done again; another body is a 409 (`key_reused`), and so is a request while the "
    "first is under way (`in_progress`). Errors are not kept. At most 200 visible characters.",
)
REPLAYED = OpenApiParameter(
    "Idempotency-Replayed",
    str,
    OpenApiParameter.HEADER,
    response=[200, 201, 202],
    description="`true` on an answer that was kept from the first request with the key.",
)


class ProblemItem(CamelCaseSerializer):
    """One error: its path, a stable code, a sentence."""

    path = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    message = serializers.CharField()


class Problem(CamelCaseSerializer):
    """An error (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField(help_text="Stable, for programs.")
    state = serializers.CharField(required=False, help_text="With 409: the present state.")
    revision = serializers.IntegerField(
        required=False, help_text="With 412, of a workflow: its draft's present revision."
    )
    changedBy = serializers.CharField(  # noqa: N815 - the JSON's name
        required=False, help_text="With 412, of a workflow: who changed it last."
    )
    changedAt = serializers.DateTimeField(  # noqa: N815
        required=False, help_text="With 412, of a workflow: when that was."
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
    """Describe a view's method under its operation ID.

    With `idempotent`, the method takes an `Idempotency-Key` and runs once per key.
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
        wanted.kwargs = {"schema": OwnSchema}  # what `extend_schema` builds on
        made: Any = describe(wanted)
        made.operation_id = operation_id  # by which its requests are counted
        return made

    return described


def header(name: str, description: str) -> OpenApiParameter:
    """Return a request header."""
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description)
