"""One server-sent event of those who watch live."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.live.frame import END, SNAPSHOT, STATE

KINDS = [
    (SNAPSHOT, "Everything that is watched, as it is."),
    (STATE, "What changed."),
    (END, "The execution has ended, and nothing follows."),
]


@extend_schema_field({"type": "string", "contentMediaType": "application/json"})
class JsonLine(serializers.CharField):
    """JSON on one line."""


class LiveEvent(serializers.Serializer[Any]):
    """One event of the stream: its lines `id`, `event` and `data`."""

    id = serializers.CharField(help_text="Come back with it in the header Last-Event-ID.")
    event = serializers.ChoiceField(KINDS)
    data = JsonLine()  # type: ignore[assignment]
