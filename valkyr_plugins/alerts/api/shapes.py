"""Alert rules, alerts and their messages as JSON. A rule's secret is write-only."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.public.addresses import shown_page
from executions.public.api import Body, CamelCase, Flag, Id, ListQuery, Text, Whole
from valkyr_plugins.alerts.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertKind,
    AlertRule,
    AlertState,
    DeliveryReason,
    DeliveryState,
)
from valkyr_plugins.alerts.rules import BOUNDS, LONGEST_SECRET, MOST_RECIPIENTS

KINDS = AlertKind.choices


class Number(serializers.FloatField):
    """A JSON number; strings such as "5" and booleans are rejected."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number. Raises ValidationError."""
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return float(super().to_internal_value(data))


def _whole(field: str, help_text: str) -> Whole:
    _, least, most = BOUNDS[field]
    return Whole(
        source=field,
        required=False,
        min_value=int(least),
        max_value=int(most),
        help_text=help_text,
    )


def _number(field: str, help_text: str) -> Number:
    _, least, most = BOUNDS[field]
    return Number(
        source=field, required=False, min_value=least, max_value=most, help_text=help_text
    )


class AlertRuleShape(CamelCase, serializers.ModelSerializer[AlertRule]):
    """A rule, without its secret."""

    workspace_id = serializers.UUIDField(
        allow_null=True, help_text="Null for a rule of the whole installation."
    )
    workflowId = serializers.UUIDField(source="about_id", allow_null=True)
    label = serializers.CharField(  # type: ignore[assignment] # a field, not its own label
        help_text="Only failures of executions with this label, as name:value; empty for all."
    )
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS))
    channel = serializers.ChoiceField(AlertChannel.choices)
    recipients = serializers.ListField(child=serializers.CharField())
    has_secret = serializers.BooleanField()
    interval_seconds = serializers.IntegerField()
    rate_factor = serializers.FloatField()
    rate_least = serializers.IntegerField()
    oldest_hours = serializers.FloatField()
    waiting_seconds = serializers.IntegerField()
    silent_seconds = serializers.IntegerField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    class Meta:
        model = AlertRule
        fields = [
            "id", "workspace_id", "workflowId", "label", "name", "kinds", "channel", "recipients",
            "url", "has_secret", "interval_seconds", "rate_factor", "rate_least", "oldest_hours",
            "waiting_seconds", "silent_seconds", "enabled", "created_by", "created_at",
            "updated_at",
        ]  # fmt: skip


class AlertRuleChange(Body):
    """The body of `patchAlertRule`; omitted fields stay unchanged."""

    name = Text(max_length=100, required=False)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(KINDS),
        required=False,
        min_length=1,
        max_length=len(KINDS),
        help_text="The kinds of alert to send.",
    )
    workflowId = Id(
        source="about_id",
        required=False,
        allow_null=True,
        help_text="Only alerts about this workflow; null for all workflows.",
    )
    label = Text(  # type: ignore[assignment] # a field, not its own label
        max_length=241,
        required=False,
        allow_blank=True,
        help_text="Only failures of executions with this label, as name:value; empty for all. For "
        "GROUP_NEW, GROUP_REGRESSED and ENTRY_OLD.",
    )
    channel = serializers.ChoiceField(AlertChannel.choices, required=False)
    recipients = serializers.ListField(
        child=Text(max_length=254),
        required=False,
        max_length=MOST_RECIPIENTS,
        help_text="With EMAIL: the recipients.",
    )
    url = Text(
        max_length=2_000,
        required=False,
        allow_blank=True,
        help_text="With WEBHOOK: the receiver's address. It is not secret.",
    )
    secret = Text(
        max_length=LONGEST_SECRET,
        required=False,
        allow_null=True,
        trim_whitespace=False,
        write_only=True,
        help_text=(
            "SLACK: the incoming webhook's address. WEBHOOK: the secret that signs requests, 16 "
            "characters or more. EMAIL: your own mail server, smtp://user:password@host:587; "
            "default: the installation's. Stored encrypted and never shown; null removes it."
        ),
    )
    intervalSeconds = _whole(
        "interval_seconds", "Minimum time between notifications about one subject."
    )
    rateFactor = _number("rate_factor", "RATE_HIGH: minimum ratio to the usual number of failures.")
    rateLeast = _whole("rate_least", "RATE_HIGH: minimum number of failures in an hour.")
    oldestHours = _number("oldest_hours", "ENTRY_OLD: how long a dead letter may be open.")
    waitingSeconds = _whole("waiting_seconds", "NO_WORKER: how long runs may wait for a worker.")
    silentSeconds = _whole("silent_seconds", "BEAT_SILENT: how long beat may be silent.")
    enabled = Flag(required=False)


class NewAlertRule(AlertRuleChange):
    """The body of `createAlertRule`."""

    workspaceId = Id(required=False, help_text="Optional if you have only one workspace.")
    installation = Flag(
        required=False,
        default=False,
        help_text="A rule of the whole installation; only superusers can create one.",
    )
    name = Text(max_length=100)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(KINDS), min_length=1, max_length=len(KINDS)
    )
    channel = serializers.ChoiceField(AlertChannel.choices)


class AlertShape(CamelCase, serializers.ModelSerializer[Alert]):
    """An alert that a rule raised."""

    workspace_id = serializers.UUIDField(allow_null=True)
    rule_id = serializers.UUIDField()
    kind = serializers.ChoiceField(KINDS)
    state = serializers.ChoiceField(AlertState.choices)
    path = serializers.SerializerMethodField()
    details = serializers.DictField()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    told_at = serializers.DateTimeField(allow_null=True)
    over_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = Alert
        fields = [
            "id", "workspace_id", "rule_id", "kind", "subject", "sentence", "path", "details",
            "state", "count", "first_at", "last_at", "told_at", "over_at",
        ]  # fmt: skip

    def get_path(self, alert: Alert) -> str:
        """Return the path of the problem's admin page; "" if there is none."""
        return shown_page(alert.path) if alert.path else ""


class AlertDeliveryShape(CamelCase, serializers.ModelSerializer[AlertDelivery]):
    """One message, and the results of the latest attempts."""

    workspace_id = serializers.UUIDField(allow_null=True)
    rule_id = serializers.UUIDField()
    alert_id = serializers.UUIDField(allow_null=True)
    reason = serializers.ChoiceField(DeliveryReason.choices)
    channel = serializers.ChoiceField(AlertChannel.choices)
    state = serializers.ChoiceField(DeliveryState.choices)
    answer = serializers.IntegerField(
        allow_null=True, help_text="The receiver's HTTP status at the last attempt."
    )
    log = serializers.ListField(
        child=serializers.DictField(),
        help_text="The latest attempts, each with `at`, `error`, `answer` and `ms`.",
    )
    next_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = AlertDelivery
        fields = [
            "id", "workspace_id", "rule_id", "alert_id", "reason", "channel", "state", "attempts",
            "answer", "error", "log", "next_at", "created_at", "sent_at",
        ]  # fmt: skip


class AlertRuleQuery(ListQuery):
    """The filters of the list of rules."""

    enabled = serializers.BooleanField(required=False)
    channel = serializers.ChoiceField(AlertChannel.choices, required=False)


class AlertQuery(ListQuery):
    """The filters of the list of alerts."""

    state = serializers.ChoiceField(AlertState.choices, required=False)
    kind = serializers.ChoiceField(KINDS, required=False)
    ruleId = serializers.UUIDField(required=False)


class AlertDeliveryQuery(ListQuery):
    """The filters of the list of messages."""

    state = serializers.ChoiceField(DeliveryState.choices, required=False)
    ruleId = serializers.UUIDField(required=False)
    alertId = serializers.UUIDField(required=False)


class Resend(Body):
    """The reason for sending a message again."""

    reason = Text(required=False, default="", allow_blank=True, max_length=500)
