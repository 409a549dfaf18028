"""Alerts and the messages about them: list; and send a message again."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import obtain, visible
from executions.public.api import Endpoint, narrowed, operation, page
from executions.public.models import Permission
from valkyr_plugins.alerts.api.alert_rules import is_superuser
from valkyr_plugins.alerts.api.shapes import (
    AlertDeliveryQuery,
    AlertDeliveryShape,
    AlertQuery,
    AlertShape,
    Resend,
)
from valkyr_plugins.alerts.models import Alert, AlertDelivery
from valkyr_plugins.alerts.sending import resend

# Ids are made in the order of time.
BY_ID = ("id",)
ALERT_FILTERS = {"state": "state", "kind": "kind", "ruleId": "rule_id"}
DELIVERY_FILTERS = {"state": "state", "ruleId": "rule_id", "alertId": "alert_id"}


def deliveries() -> QuerySet[AlertDelivery]:
    """Messages without what they say, which their alerts do."""
    return AlertDelivery.objects.defer("message")


class Alerts(Endpoint):
    """All alerts."""

    @operation("listAlerts", "Alert", {200: AlertShape(many=True)}, parameters=[AlertQuery])
    def get(self, request: Request) -> Response:
        """What the rules of your workspaces noticed, newest first."""
        query = self.query(AlertQuery)
        rows = narrowed(visible(self.user, Alert.objects.all()), query, ALERT_FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(AlertShape(found.rows, many=True).data, headers=found.headers)


class AlertDeliveries(Endpoint):
    """All messages about alerts."""

    @operation(
        "listAlertDeliveries",
        "AlertDelivery",
        {200: AlertDeliveryShape(many=True)},
        parameters=[AlertDeliveryQuery],
    )
    def get(self, request: Request) -> Response:
        """The messages of your workspaces' rules, newest first, with each attempt."""
        query = self.query(AlertDeliveryQuery)
        rows = narrowed(visible(self.user, deliveries()), query, DELIVERY_FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(AlertDeliveryShape(found.rows, many=True).data, headers=found.headers)


class ResendAlertDelivery(Endpoint):
    """Send one again."""

    @operation(
        "resendAlertDelivery",
        "AlertDelivery",
        {200: AlertDeliveryShape},
        request=Resend,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Queue a message that was sent or given up once more, with the same idempotency key."""
        own = deliveries().filter(workspace=None, pk=id)
        if not (is_superuser(self.user) and own.exists()):
            obtain(self.user, deliveries().exclude(workspace=None), id, Permission.CONFIGURE)
        reason = self.body(Resend)["reason"]
        return Response(AlertDeliveryShape(resend(id, actor=self.actor, reason=reason)).data)
