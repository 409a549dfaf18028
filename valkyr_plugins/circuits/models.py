"""Circuit breakers: a target's recent failures, and whether its circuit is open."""

from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, uuid7
from executions.public.models import Workspace
from valkyr_plugins.circuits.breaker import CircuitState


class CircuitBreaker(models.Model):
    """One target of a workspace's steps, such as `http.request:api.example.com`.

    A target without a row counts as one that neither failed nor answered. While CLOSED, `failures`
    counts until `window_until`, and `answers` counts the answered calls in that time that callers
    have reported. `proven_at` is when the target was last known to answer. Until a target has
    answered, and again after a failure, its concurrent calls (`trials`, void after `trials_until`)
    are limited to the failures that remain. OPEN lasts at least until `next_retry_at`. HALF_OPEN
    names the probing run and its token. A probe expires at `probe_until`, in case its process died.
    Woken runs have until `called_until` to call; after a call or that time, further runs are woken.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    target = models.CharField(max_length=300)
    state = models.CharField(
        max_length=9,
        choices=[(s.value, s.value.lower()) for s in CircuitState],
        default="CLOSED",
        db_default="CLOSED",
    )
    failures = models.PositiveIntegerField(default=0, db_default=0)
    answers = models.PositiveIntegerField(default=0, db_default=0)
    window_until = models.DateTimeField(null=True, blank=True)
    last_failure_at = models.DateTimeField(null=True, blank=True)
    last_error = models.TextField(blank=True, default="", db_default="")
    proven_at = models.DateTimeField(null=True, blank=True)
    trials = models.PositiveIntegerField(default=0, db_default=0)
    trials_until = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    times_opened = models.PositiveIntegerField(default=0, db_default=0)
    next_retry_at = models.DateTimeField(null=True, blank=True)
    probe_run_id = models.UUIDField(null=True, blank=True)
    probe_token = models.IntegerField(null=True, blank=True)
    probe_until = models.DateTimeField(null=True, blank=True)
    called_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        db_table = "runners_circuitbreaker"
        ordering = ["workspace", "target"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "target"], name="circuit_once"),
            models.CheckConstraint(
                condition=Q(state="CLOSED") | Q(next_retry_at__isnull=False),
                name="circuit_open_has_next_retry",
            ),
            models.CheckConstraint(
                condition=~Q(state="HALF_OPEN")
                | Q(
                    probe_run_id__isnull=False,
                    probe_token__isnull=False,
                    probe_until__isnull=False,
                ),
                name="circuit_half_open_names_probe",
            ),
        ]
        indexes = [
            # The few circuits that a worker must know before a call, among possibly many targets.
            models.Index(
                fields=["state", "next_retry_at"],
                condition=~Q(state="CLOSED") | Q(failures__gt=0),
                name="circuit_unclean",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.target}: {self.state}"


class CircuitRule(models.Model):
    """Limits for the targets that match a pattern; the most specific rule applies.

    `*` in a pattern matches any characters. A rule without a number inherits it from the next most
    specific rule, and finally from the installation (`DEFAULT_FAILURE_THRESHOLD` and so on).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    pattern = models.CharField(
        max_length=300, unique=True, help_text="`http.request:*.example.com`, for example."
    )
    failure_threshold = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Number of failures within the window that opens the circuit.",
    )
    window_seconds = models.FloatField(
        verbose_name="window, in seconds",
        null=True,
        blank=True,
        help_text="The time during which a failure counts.",
    )
    recovery_seconds = models.FloatField(
        verbose_name="recovery, in seconds",
        null=True,
        blank=True,
        help_text="Time until one step probes the target of an open circuit.",
    )
    timeout_seconds = models.FloatField(
        verbose_name="timeout, in seconds",
        null=True,
        blank=True,
        help_text="Maximum duration of a call to a language model.",
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        db_table = "runners_circuitrule"
        ordering = ["pattern"]
        constraints = [
            models.CheckConstraint(
                # A missing value is NULL, which violates none of these conditions.
                condition=Q(
                    failure_threshold__gt=0,
                    window_seconds__gt=0,
                    recovery_seconds__gt=0,
                    timeout_seconds__gt=0,
                ),
                name="circuit_rule_positive",
                violation_error_message="Every number is more than 0, or left empty.",
            ),
        ]

    def __str__(self) -> str:
        return self.pattern
