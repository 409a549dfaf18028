"""Liveness, readiness and health of the installation, for load balancers and operators.

Anonymous callers see the status of each part. Signed-in staff and holders of the metrics token also
see findings and remedies.
"""

from collections.abc import Iterable

from django.contrib.auth import get_user
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework_simplejwt.exceptions import InvalidToken

from executions.api.authentication import ApiTokenAuthentication, TokenAuthentication
from executions.api.documentation import operation
from executions.api.fields import Body, CamelCaseSerializer
from executions.api.sign_in import OpenEndpoint
from executions.health import parts
from executions.health.checking import HEALTH_CHECKS, Findings
from executions.health.parts import HealthFinding
from executions.observability.metrics_access import access
from executions.vendor_seams.rest_framework_requests import django_request

STATUSES = [("UP", "UP"), ("DEGRADED", "DEGRADED"), ("DOWN", "DOWN")]
EVERY = "all"
Component = dict[str, str]


class Health(CamelCaseSerializer):
    """The status of each part, and overall: DEGRADED if only parts that are not needed are DOWN."""

    status = serializers.ChoiceField(STATUSES)
    components = serializers.DictField(child=serializers.JSONField(), required=False)


class ReadyQuery(Body):
    """The parts that must not be DOWN; if one of them is DOWN, the response is a 503."""

    parts = serializers.CharField(
        required=False,
        max_length=200,
        help_text=(
            "Parts that must be UP, separated by commas, or `all`: database, broker, migrations, "
            "workers, beat; of a cell, for example `b:database`. Default: the first three, which "
            "this process needs."
        ),
    )

    def validate_parts(self, text: str) -> tuple[str, ...]:
        """Return the names of the parts. Raises ValidationError for an unknown name."""
        known = parts.names()
        wanted = known if text == EVERY else tuple(word.strip() for word in text.split(","))
        unknown = [word for word in wanted if word not in known]
        if unknown:
            raise serializers.ValidationError(
                f"Unknown part {unknown[0]!r}. Expected all, or some of {', '.join(known)}.",
                code="unknown_part",
            )
        return wanted


class Ready(OpenEndpoint):
    """The endpoint that reports whether this process can serve requests."""

    urgent = True

    @operation(
        "getReadiness", "Health", {200: Health, 503: Health}, public=True, parameters=[ReadyQuery]
    )
    def get(self, request: Request) -> Response:
        """Return whether this process can serve requests.

        The response is 503 if a part that the process needs is DOWN; with `parts`, if one of the
        named parts is DOWN. Failed workers and beat only make the status DEGRADED, because removing
        web processes would not help. With `?parts=all`, the response is 503 for failed workers and
        beat as well.
        """
        return answer(request, self.query(ReadyQuery).get("parts", parts.NEEDED))


class Overall(OpenEndpoint):
    """The endpoint that returns the health of all parts."""

    urgent = True

    @operation("getHealth", "Health", {200: Health, 503: Health}, public=True)
    def get(self, request: Request) -> Response:
        """Return the status of every part; 503 if a part that this process needs is DOWN.

        With cells, the name of a cell's part begins with the cell's name. If `b:database` is DOWN,
        the overall status is only DEGRADED, because the other cells still work.
        """
        return answer(request, parts.NEEDED)


class Live(OpenEndpoint):
    """The endpoint that reports whether this process responds."""

    urgent = True

    @operation("getLiveness", "Health", {200: Health}, public=True)
    def get(self, request: Request) -> Response:
        """Return 200 if this process responds, without checking any part."""
        return Response({"status": "UP"}, headers={"Cache-Control": "no-store"})


def answer(request: Request, required: Iterable[str]) -> Response:
    """Return the response with the status of all parts; 503 if a required part is DOWN."""
    found = HEALTH_CHECKS.findings()
    telling = _may_know(request, found)
    down = not all(found[name].well for name in required)
    well = all(finding.well for finding in found.values())
    body = {
        "status": "DOWN" if down else "UP" if well else "DEGRADED",
        "components": {name: _shown(finding, telling) for name, finding in found.items()},
    }
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "2"} if down else {})
    return Response(body, 503 if down else 200, headers=headers)


def _shown(finding: HealthFinding, telling: bool) -> Component:
    status = {"status": "UP" if finding.well else "DOWN"}
    if not telling:
        return status
    advice = {"do": finding.do} if finding.do else {}
    return status | {"found": finding.found, "expected": finding.expected} | advice


def _may_know(request: Request, found: Findings) -> bool:
    """Return whether the caller has the metrics token or is staff.

    The database is queried only if it works and is migrated. A caller with an invalid sign-in is
    treated as anonymous.
    """
    if access(local=False).knows(request.headers.get("Authorization", "")):
        return True
    if not (found["database"].well and found["migrations"].well):
        return False
    for scheme in (ApiTokenAuthentication, TokenAuthentication):
        try:
            signed_in = scheme().authenticate(request)
        except (AuthenticationFailed, InvalidToken):
            return False
        if signed_in is not None:
            return bool(getattr(signed_in[0], "is_staff", False))
    # REST framework sets no user here, because the view is public.
    return bool(getattr(get_user(django_request(request)), "is_staff", False))
