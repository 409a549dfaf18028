"""Sessions as JSON."""

from rest_framework import serializers

from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.models import AccountSession
from executions.states import SessionKind


class SessionShape(CamelCase, serializers.ModelSerializer[AccountSession]):
    """A session: where it began, and when it was used."""

    kind = serializers.ChoiceField(
        SessionKind.choices, help_text="TOKEN: by `obtainToken`. BROWSER: by a cookie."
    )
    current = serializers.SerializerMethodField(help_text="Whether it made this request.")
    user_agent = serializers.CharField(help_text="The program's own words.")
    address = serializers.CharField(allow_null=True, help_text="Where it began.")
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(help_text="Written once a minute at most.")
    last_used_from = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()

    class Meta:
        model = AccountSession
        fields = [
            "id", "kind", "current", "user_agent", "address", "created_at", "last_used_at",
            "last_used_from", "expires_at",
        ]  # fmt: skip

    def get_current(self, session: AccountSession) -> bool:
        """Compare it with the request's."""
        return bool(session.pk == self.context["current"])


class EndedSessions(CamelCaseSerializer):
    """What `endOtherSessions` did."""

    ended = serializers.IntegerField()
