"""Webhooks: the URL at which a partner's authenticated request starts a workflow."""

import time
from functools import lru_cache
from io import BytesIO
from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access.actor import Actor
from executions.api import throttles
from executions.api.documentation import header, operation
from executions.api.fields import CamelCaseSerializer
from executions.api.idempotency import idempotency_key
from executions.api.parsing import BodyTooLarge, JsonParser, check_storable, read_text
from executions.api.problems import problem
from executions.api.sign_in import OpenEndpoint
from executions.api.starting import KEY
from executions.configuration import settings as valkyr_settings
from executions.database.stepping_aside import step_aside
from executions.models import WorkflowExecution
from executions.states import FINAL, ExecutionState
from executions.triggers import webhook
from executions.triggers.stored_input import most_bytes
from executions.vendor_seams.rest_framework_requests import django_request


def check_size(body: bytes) -> None:
    """Raise BodyTooLarge for a body that is larger than a payload may be."""
    most = most_bytes()
    if len(body) > most:
        raise BodyTooLarge(most)


def payload_of(body: bytes, content_type: str) -> Any:
    """Return a body as a payload: parsed JSON, {} if empty, or an object that holds other text.

    Raises ParseError for invalid JSON or UTF-8, BodyTooLarge, and ValidationError for text that
    cannot be stored.
    """
    if not body.strip():
        return {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("", "application/json") or kind.endswith("+json"):
        return JsonParser().parse(BytesIO(body))
    payload = {"body": read_text(BytesIO(body), None), "contentType": kind}
    check_storable(payload)
    return payload


FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0


@lru_cache(maxsize=1)
def _seats() -> BoundedSemaphore:
    return BoundedSemaphore(valkyr_settings().webhook_waiters)


def wait_for_end(execution_id: UUID, seconds: float) -> WorkflowExecution | None:
    """Return an execution when it has ended; None after `seconds`, or if too many requests wait."""
    if not _seats().acquire(blocking=False):
        return None
    try:
        return _wait(execution_id, time.monotonic() + seconds)
    finally:
        _seats().release()


def _wait(execution_id: UUID, until: float) -> WorkflowExecution | None:
    pause = FIRST_PAUSE
    ended = WorkflowExecution.objects.filter(pk=execution_id, state__in=sorted(FINAL))
    while True:
        found = ended.only("id", "state", "output").first()
        if found is not None:
            return found
        left = until - time.monotonic()
        if left <= 0:
            return None
        step_aside()
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)


FAILED = 502


class Received(CamelCaseSerializer):
    """The response to a webhook: the ID of the execution that the request started."""

    executionId = serializers.UUIDField()  # noqa: N815 - the JSON's name


class AnyAnswer(BaseContentNegotiation):
    """Ignores `Accept`, which many senders set wrongly; the response is always JSON."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the only parser, regardless of the content type."""
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        """Return the only renderer, regardless of the `Accept` header."""
        return renderers[0], renderers[0].media_type


class Hook(OpenEndpoint):
    """The endpoint that receives the requests of one webhook trigger."""

    content_negotiation_class: Any = AnyAnswer

    def get_authenticate_header(self, request: Request) -> str:
        """Return the `WWW-Authenticate` challenge, so that a rejected request gets a 401."""
        return 'Bearer realm="valkyr webhook"'

    @operation(
        "receiveWebhook",
        "Webhook",
        {200: OpenApiTypes.ANY, 202: Received},
        request=OpenApiTypes.ANY,
        errors=[401, 409, 429, 502],
        parameters=[
            header(
                "X-Valkyr-Signature",
                "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<body>` with the "
                "trigger's secret. At most 5 minutes old, and not used before.",
            ),
            header("Authorization", "`Bearer <secret>`, for triggers with `auth: bearer`."),
            KEY,
        ],
        public=True,
    )
    def post(self, request: Request, triggerId: UUID) -> HttpResponse | Response:  # noqa: N803
        """Start the trigger's workflow with the body as its payload."""
        body: bytes = django_request(request).body
        check_size(body)
        throttles.check_known(throttles.of_refused_hook(request))
        caller = self._authentic(triggerId, body)
        throttles.check([throttles.of_hook(request, triggerId)])
        payload = payload_of(body, request.headers.get("Content-Type", ""))
        key = idempotency_key(request)
        actor = Actor.at_door(request, None, "webhook", "webhook")
        try:
            started = webhook.accept(caller, payload, actor=actor, idempotency_key=key)
        except webhook.NotAuthentic as error:
            raise self._refused(error) from None
        settings = caller.trigger.settings
        if settings["respond"] == "result":
            ended = wait_for_end(started.execution.pk, settings["timeoutSeconds"])
            if ended is not None:
                return _result(ended)
        pk = started.execution.pk
        return Response({"executionId": str(pk)}, 202, headers={"Location": _address(pk)})

    def _authentic(self, trigger_id: UUID, body: bytes) -> webhook.Authentic:
        headers = self.request.headers
        sent = webhook.WebhookRequest(
            body=body,
            signature=headers.get("X-Valkyr-Signature", ""),
            authorization=headers.get("Authorization", ""),
        )
        try:
            return webhook.authenticate(trigger_id, sent)
        except webhook.NotAuthentic as error:
            raise self._refused(error) from None

    def _refused(self, error: webhook.NotAuthentic) -> AuthenticationFailed:
        throttles.check([throttles.of_refused_hook(self.request)])
        return AuthenticationFailed(error.message, code=error.code)


def _result(execution: WorkflowExecution) -> HttpResponse:
    where = {"Location": _address(execution.pk)}
    if execution.state == ExecutionState.SUCCESS:
        return JsonResponse(execution.output, safe=False, headers=where)
    return problem(
        FAILED,
        f"Execution {execution.pk} ended without success. Users who can view it see the "
        "reason on its page.",
        code="execution_failed",
        headers=where,
        state=execution.state,
        executionId=str(execution.pk),
    )


def _address(execution_id: UUID) -> str:
    return addresses.api("execution", execution_id)
