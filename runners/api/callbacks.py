"""Callbacks: the address of one waiting step, open to whoever was given it."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access.actor import Actor
from executions.api import throttles
from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.hook_body import check_size, payload_of
from executions.api.hooks import AnyAnswer
from executions.api.tokens import OpenEndpoint
from executions.vendor_seams.rest_framework_requests import django_request
from runners.waits import callbacks


class Accepted(CamelCaseSerializer):
    """The step goes on, or will as soon as it waits."""

    accepted = serializers.BooleanField()


class Gone(APIException):
    """The answer for an address nobody waits for any more."""

    status_code = 410


class Callback(OpenEndpoint):
    """One step's address."""

    content_negotiation_class: Any = AnyAnswer

    @operation(
        "receiveCallback",
        "Callback",
        {202: Accepted},
        request=OpenApiTypes.ANY,
        errors=[404, 409, 410, 429],
        public=True,
    )
    def post(self, request: Request, token: str) -> Response:
        """Let the step of this address go on with the body, once; one that comes early is kept.

        404: no address of ours. 409 (`callback_used`): used before. 410: its time is over, or its
        execution has ended.
        """
        # Only made-up addresses are counted: each of ours works once anyway.
        forged = throttles.of_refused_hook(request)
        throttles.check_known(forged)
        body: bytes = django_request(request).body
        check_size(body)
        try:
            payload = payload_of(body, request.headers.get("Content-Type", ""))
            actor = Actor.at_door(request, None, "callback", "callback")
            callbacks.receive(token, payload, actor=actor)
        except callbacks.UnknownCallback:
            throttles.check([forged])
            raise
        except callbacks.CallbackGone as error:
            raise Gone(error.message, error.code) from None
        return Response({"accepted": True}, 202)
