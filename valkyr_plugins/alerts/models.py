"""Notifications of problems: rules, their alerts, and the messages that rules send."""

from django.db import models
from django.db.models import Q

from executions.public.database import ArrayField, ClockTimestamp, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, Workspace


class AlertKind(models.TextChoices):
    """The kind of problem that an alert reports."""

    GROUP_NEW = "GROUP_NEW", lazy("a new kind of failure")
    GROUP_REGRESSED = "GROUP_REGRESSED", lazy("a resolved failure has regressed")
    RATE_HIGH = "RATE_HIGH", lazy("far more failures than usual")
    ENTRY_OLD = "ENTRY_OLD", lazy("a dead letter has waited too long")
    REDRIVE_STOPPED = "REDRIVE_STOPPED", lazy("a redrive was stopped by its failures")
    NO_WORKER = "NO_WORKER", lazy("work waits in a queue without a worker")
    BEAT_SILENT = "BEAT_SILENT", lazy("beat is not running")
    CIRCUIT_OPEN = "CIRCUIT_OPEN", lazy("a circuit has opened")
    CANARY_STOPPED = "CANARY_STOPPED", lazy("a canary version was stopped by its rule")
    BUDGET_SOFT = "BUDGET_SOFT", lazy("a budget is nearly spent")
    BUDGET_SPENT = "BUDGET_SPENT", lazy("a budget is spent")


class AlertChannel(models.TextChoices):
    """The channel of a notification."""

    EMAIL = "EMAIL", lazy("e-mail")
    SLACK = "SLACK", lazy("Slack")
    WEBHOOK = "WEBHOOK", lazy("webhook")


class AlertState(models.TextChoices):
    """The state of an alert: its problem exists, or is over."""

    OPEN = "OPEN", lazy("open")
    OVER = "OVER", lazy("ended")


class DeliveryState(models.TextChoices):
    """The state of a message. Only `sending` writes it."""

    QUEUED = "QUEUED", lazy("queued")
    SENT = "SENT", lazy("sent")
    GIVEN_UP = "GIVEN_UP", lazy("given up")


class DeliveryReason(models.TextChoices):
    """The reason why a message is sent."""

    RAISED = "RAISED", lazy("noticed")
    AGAIN = "AGAIN", lazy("still open or reopened")
    OVER = "OVER", lazy("all clear")
    TEST = "TEST", lazy("a test")


class AlertRule(models.Model):
    """A rule for notifications: the problems to report, the channel, and the frequency.

    A rule without a workspace covers the whole installation. `about` limits the rule to one
    workflow of the workspace, and `label` (`name:value`) to failures of executions with that label.
    `sealed` is a JSON object with the channel's secret, sealed with AES-256-GCM and bound to this
    row's ID. The secret is the mail server's URL, Slack's webhook address, or the key that signs
    webhooks.
    """

    AUDITED_AS = "AlertRule"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    about = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    label = models.CharField(max_length=241, blank=True, default="", db_default="")
    name = models.CharField(max_length=100)
    kinds = ArrayField(models.CharField(max_length=20, choices=AlertKind.choices))
    channel = models.CharField(max_length=8, choices=AlertChannel.choices)
    recipients = ArrayField(models.CharField(max_length=254), default=list, blank=True)
    url = models.CharField(max_length=2_000, blank=True, default="")
    sealed = models.BinaryField(editable=False)
    key_id = models.BigIntegerField(editable=False, db_index=True)
    has_secret = models.BooleanField(default=False, editable=False)
    interval_seconds = models.PositiveIntegerField(default=3_600)
    rate_factor = models.FloatField(default=3.0)
    rate_least = models.PositiveIntegerField(default=10)
    oldest_hours = models.FloatField(default=24.0)
    waiting_seconds = models.PositiveIntegerField(default=60)
    silent_seconds = models.PositiveIntegerField(default=60)
    enabled = models.BooleanField(default=True)
    created_by = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name"], name="alert_rule_once", nulls_distinct=False
            ),
        ]
        indexes = [models.Index(fields=["workspace", "created_at", "id"], name="alert_rule_list")]

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """A problem that a rule noticed.

    At most one is open per rule, kind and subject; repeats are counted. `told_count` is the count
    at the last notification; 0 if there was none since the alert opened or reopened. A lasting
    condition counts once per interval.
    """

    AUDITED_AS = "Alert"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    rule = models.ForeignKey(
        AlertRule, on_delete=models.CASCADE, related_name="alerts", db_index=False
    )
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    subject = models.CharField(max_length=400)
    sentence = models.CharField(max_length=1_000)
    path = models.CharField(max_length=500, blank=True, default="")
    details = models.JSONField(default=dict)
    state = models.CharField(max_length=4, choices=AlertState.choices, default=AlertState.OPEN)
    count = models.PositiveBigIntegerField(default=1)
    told_count = models.PositiveBigIntegerField(default=0)
    first_at = models.DateTimeField(db_default=ClockTimestamp())
    last_at = models.DateTimeField(db_default=ClockTimestamp())
    told_at = models.DateTimeField(null=True, blank=True)
    over_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "kind", "subject"],
                condition=Q(state="OPEN"),
                name="alert_open_once",
            ),
            models.CheckConstraint(
                condition=Q(state="OPEN", over_at__isnull=True)
                | Q(state="OVER", over_at__isnull=False),
                name="alert_over_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "state", "id"], name="alert_list"),
            models.Index(fields=["rule", "kind", "subject", "id"], name="alert_subject"),
            models.Index(fields=["over_at"], condition=Q(state="OVER"), name="alert_age"),
        ]

    def __str__(self) -> str:
        return self.sentence[:120]


class AlertDelivery(models.Model):
    """One message of a rule, and the results of the latest attempts to send it.

    The row's ID is the message's idempotency key. A process that takes the message increases
    `token` and sets `next_at` to the time when another process may take it. Only the holder of the
    newest token records the result. `answer` is the receiver's HTTP status. `attempts` counts the
    attempts since the message was queued; `log` contains the latest 20 attempts.
    """

    AUDITED_AS = "AlertDelivery"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    rule = models.ForeignKey(
        AlertRule, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    alert = models.ForeignKey(
        Alert, on_delete=models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    reason = models.CharField(max_length=6, choices=DeliveryReason.choices)
    channel = models.CharField(max_length=8, choices=AlertChannel.choices)
    message = models.JSONField()
    state = models.CharField(
        max_length=8, choices=DeliveryState.choices, default=DeliveryState.QUEUED
    )
    attempts = models.PositiveIntegerField(default=0)
    token = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True, db_default=ClockTimestamp())
    answer = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=2_000, blank=True, default="")
    log = models.JSONField(default=list)
    queued_at = models.DateTimeField(db_default=ClockTimestamp())
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-id"]
        verbose_name = "alert message"
        verbose_name_plural = "alert messages"
        constraints = [
            models.CheckConstraint(
                condition=Q(state="QUEUED", next_at__isnull=False)
                | (~Q(state="QUEUED") & Q(next_at__isnull=True)),
                name="alert_delivery_queued_is_due",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "state", "id"], name="alert_delivery_list"),
            models.Index(fields=["rule", "created_at"], name="alert_delivery_rule"),
            models.Index(
                fields=["next_at"], condition=Q(state="QUEUED"), name="alert_delivery_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reason} by {self.channel}: {self.state}"


class AlertNews(models.Model):
    """An event that rules may report; `news.fold` raises its alerts and deletes the row.

    The event's own transaction writes this row, so the event does not wait for alerts.
    """

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    workflow_id = models.UUIDField(null=True, blank=True)
    subject = models.CharField(max_length=400)
    sentence = models.CharField(max_length=1_000)
    path = models.CharField(max_length=500, blank=True, default="")
    details = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}"


# The allowed state changes of alerts (written by `lifecycle`) and of messages (by `sending`).


# A problem that recurs shortly after its report reopens the same alert. Later, it creates a new
# one.
ALERT_MOVES: dict[str, frozenset[str]] = {
    AlertState.OPEN: frozenset({AlertState.OVER}),
    AlertState.OVER: frozenset({AlertState.OPEN}),
}
MESSAGE_MOVES: dict[str, frozenset[str]] = {
    DeliveryState.QUEUED: frozenset(
        {DeliveryState.QUEUED, DeliveryState.SENT, DeliveryState.GIVEN_UP}
    ),
    DeliveryState.SENT: frozenset({DeliveryState.QUEUED}),
    DeliveryState.GIVEN_UP: frozenset({DeliveryState.QUEUED}),
}
