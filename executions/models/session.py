"""Sessions of users: one row for each sign-in, through the API or in a browser."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.database.accounts import cascade
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.states import SessionEnd, SessionKind


class AccountSession(models.Model):
    """The session that one sign-in began.

    Its tokens or its cookie are valid only while the row is live.

    A session of kind TOKEN stores the SHA-256 of its current refresh token's `jti`: only that token
    can be exchanged, and only once. Triggers in the database end all sessions of an account when
    the password changes, or the account is disabled or loses rights (migrations/0001_initial.py).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=cascade,
        related_name="valkyr_sessions",
        db_index=False,
    )
    kind = models.CharField(max_length=7, choices=SessionKind.choices)
    refresh_digest = models.CharField(max_length=64, blank=True, default="", editable=False)
    user_agent = models.CharField(max_length=300, blank=True, default="")
    address = models.GenericIPAddressField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    last_used_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    last_used_from = models.GenericIPAddressField(null=True, blank=True, editable=False)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, editable=False)
    end_reason = models.CharField(
        max_length=12, choices=SessionEnd.choices, blank=True, default="", editable=False
    )

    in_first_database = True

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "session"
        indexes = [
            models.Index(fields=["user", "created_at", "id"], name="session_list"),
            models.Index(fields=["expires_at"], name="session_age"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=(Q(kind=SessionKind.TOKEN) & ~Q(refresh_digest=""))
                | Q(kind=SessionKind.BROWSER, refresh_digest=""),
                name="session_refreshes_by_token",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, end_reason="")
                | (Q(ended_at__isnull=False) & ~Q(end_reason="")),
                name="session_ends_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.user}"
