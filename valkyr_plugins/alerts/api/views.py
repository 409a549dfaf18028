"""Endpoints of alert rules, alerts and messages. No response contains a secret."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Forbidden, User, limits_of, obtain, visible, workspace_for
from executions.public.api import Endpoint, narrowed, operation, page
from executions.public.models import Permission, Workspace
from valkyr_plugins.alerts.api.shapes import (
    AlertDeliveryQuery,
    AlertDeliveryShape,
    AlertQuery,
    AlertRuleChange,
    AlertRuleQuery,
    AlertRuleShape,
    AlertShape,
    NewAlertRule,
    Resend,
)
from valkyr_plugins.alerts.models import Alert, AlertDelivery, AlertRule
from valkyr_plugins.alerts.rules import FIELDS, change_rule, create_rule, delete_rule
from valkyr_plugins.alerts.sending import resend, send_test

TAG = "AlertRule"
FILTERS = {"enabled": "enabled", "channel": "channel"}


def is_superuser(user: User) -> bool:
    """Return whether the caller is an active superuser who uses no API token."""
    boss = user.is_active and bool(getattr(user, "is_superuser", False))
    return boss and limits_of(user) is None


def rules() -> QuerySet[AlertRule]:
    """Return all rules, without loading their sealed secrets."""
    return AlertRule.objects.defer("sealed")


def obtained(user: User, pk: UUID) -> AlertRule:
    """Return a rule that the caller may configure. Raises NotFound or Forbidden.

    Only superusers may configure the installation's rules.
    """
    own = rules().filter(workspace=None, pk=pk).first() if is_superuser(user) else None
    return own or obtain(user, rules().exclude(workspace=None), pk, Permission.CONFIGURE)[0]


def shown(rule: AlertRule, status: int = 200) -> Response:
    """Return the response with a rule, without the rule's secret."""
    headers = {"Location": addresses.api("alert-rule", rule.pk)} if status == 201 else {}
    return Response(AlertRuleShape(rule).data, status, headers=headers)


class AlertRules(Endpoint):
    """The endpoint that lists and creates alert rules."""

    @operation("listAlertRules", TAG, {200: AlertRuleShape(many=True)}, parameters=[AlertRuleQuery])
    def get(self, request: Request) -> Response:
        """List the rules that you may configure, newest first."""
        query = self.query(AlertRuleQuery)
        rows = narrowed(visible(self.user, rules(), Permission.CONFIGURE), query, FILTERS)
        found = page(request, rows, query)
        return Response(AlertRuleShape(found.rows, many=True).data, headers=found.headers)

    @operation(
        "createAlertRule",
        TAG,
        {201: AlertRuleShape},
        request=NewAlertRule,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a rule with the kinds of alerts to report, a channel, recipients and an interval.

        No response contains the rule's secret.
        """
        given = self.body(NewAlertRule)
        facts = {name: given[name] for name in FIELDS if name in given}
        secret = given.get("secret") or ""
        made = create_rule(self._place(given), facts, secret=secret, actor=self.actor)
        return shown(made, 201)

    def _place(self, given: dict[str, Any]) -> Workspace | None:
        if not given["installation"]:
            return workspace_for(self.user, given.get("workspaceId"), Permission.CONFIGURE)
        if "workspaceId" in given:
            raise ValidationError(
                {
                    "workspaceId": (
                        "A rule of the installation belongs to no workspace; omit workspaceId."
                    )
                },
                code="unexpected",
            )
        if not is_superuser(self.user):
            raise Forbidden("Only superusers can create alert rules of the whole installation.")
        return None


class OneAlertRule(Endpoint):
    """The endpoint that returns, changes and deletes one alert rule."""

    @operation("getAlertRule", TAG, {200: AlertRuleShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one rule, without its secret."""
        return shown(obtained(self.user, id))

    @operation(
        "patchAlertRule",
        TAG,
        {200: AlertRuleShape},
        request=AlertRuleChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change a rule.

        Its secret is kept unless you send another one or change the channel.
        """
        obtained(self.user, id)
        given = self.body(AlertRuleChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        secret = (given.pop("secret") or "") if "secret" in given else None
        return shown(change_rule(id, given, secret=secret, actor=self.actor))

    @operation("deleteAlertRule", TAG, {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete a rule, with its alerts and messages."""
        obtained(self.user, id)
        delete_rule(id, actor=self.actor)
        return Response(status=204)


class TryAlertRule(Endpoint):
    """The endpoint that tests an alert rule."""

    @operation("testAlertRule", TAG, {200: AlertDeliveryShape}, errors=[403, 404])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Send a test message now, and return its delivery with the result."""
        rule = obtained(self.user, id)
        return Response(AlertDeliveryShape(send_test(rule, actor=self.actor)).data)


# The endpoints for alerts and their messages: lists, and the resending of a message.


# IDs increase with time.
BY_ID = ("id",)
ALERT_FILTERS = {"state": "state", "kind": "kind", "ruleId": "rule_id"}
DELIVERY_FILTERS = {"state": "state", "ruleId": "rule_id", "alertId": "alert_id"}


def deliveries() -> QuerySet[AlertDelivery]:
    """Return all messages, without loading their contents, which the API does not return."""
    return AlertDelivery.objects.defer("message")


class Alerts(Endpoint):
    """The endpoint that lists alerts."""

    @operation("listAlerts", "Alert", {200: AlertShape(many=True)}, parameters=[AlertQuery])
    def get(self, request: Request) -> Response:
        """List the alerts of your workspaces, newest first."""
        query = self.query(AlertQuery)
        rows = narrowed(visible(self.user, Alert.objects.all()), query, ALERT_FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(AlertShape(found.rows, many=True).data, headers=found.headers)


class AlertDeliveries(Endpoint):
    """The endpoint that lists messages about alerts."""

    @operation(
        "listAlertDeliveries",
        "AlertDelivery",
        {200: AlertDeliveryShape(many=True)},
        parameters=[AlertDeliveryQuery],
    )
    def get(self, request: Request) -> Response:
        """List the messages of your workspaces' rules, newest first, with the latest attempts."""
        query = self.query(AlertDeliveryQuery)
        rows = narrowed(visible(self.user, deliveries()), query, DELIVERY_FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(AlertDeliveryShape(found.rows, many=True).data, headers=found.headers)


class ResendAlertDelivery(Endpoint):
    """The endpoint that sends a message again."""

    @operation(
        "resendAlertDelivery",
        "AlertDelivery",
        {200: AlertDeliveryShape},
        request=Resend,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Queue a sent or abandoned message again, with the same idempotency key."""
        own = deliveries().filter(workspace=None, pk=id)
        if not (is_superuser(self.user) and own.exists()):
            obtain(self.user, deliveries().exclude(workspace=None), id, Permission.CONFIGURE)
        reason = self.body(Resend)["reason"]
        return Response(AlertDeliveryShape(resend(id, actor=self.actor, reason=reason)).data)
