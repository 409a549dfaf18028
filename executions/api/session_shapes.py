"""Sessions as JSON."""
# ruff: noqa: N815 - the names of fields are the JSON's

from typing import Any

from rest_framework import serializers

from executions.models import AccountSession
from executions.states import SessionKind


class SessionShape(serializers.ModelSerializer[AccountSession]):
    """A session: where it began, and when it was used."""

    kind = serializers.ChoiceField(
        SessionKind.choices, help_text="TOKEN: by `obtainToken`. BROWSER: by a cookie."
    )
    current = serializers.SerializerMethodField(help_text="Whether it made this request.")
    userAgent = serializers.CharField(source="user_agent", help_text="The program's own words.")
    address = serializers.CharField(allow_null=True, help_text="Where it began.")
    createdAt = serializers.DateTimeField(source="created_at")
    lastUsedAt = serializers.DateTimeField(
        source="last_used_at", help_text="Written once a minute at most."
    )
    lastUsedFrom = serializers.CharField(source="last_used_from", allow_null=True)
    expiresAt = serializers.DateTimeField(source="expires_at")

    class Meta:
        model = AccountSession
        fields = [
            "id", "kind", "current", "userAgent", "address", "createdAt", "lastUsedAt",
            "lastUsedFrom", "expiresAt",
        ]  # fmt: skip

    def get_current(self, session: AccountSession) -> bool:
        """Compare it with the request's."""
        return bool(session.pk == self.context["current"])


class EndedSessions(serializers.Serializer[Any]):
    """What `endOtherSessions` did."""

    ended = serializers.IntegerField()
