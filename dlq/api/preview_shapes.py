"""What a redrive would do, as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.api.fields import Payload


class SkippedShape(serializers.Serializer[Any]):
    """Entries that would not run."""

    reason = serializers.CharField()
    count = serializers.IntegerField()


class EffectShape(serializers.Serializer[Any]):
    """A step with effects outside that would run again."""

    step = serializers.CharField()
    module = serializers.CharField()
    effect = serializers.ChoiceField(["idempotent", "external"])
    count = serializers.IntegerField()


class SampleShape(serializers.Serializer[Any]):
    """What the overrides make of one entry."""

    entryId = serializers.UUIDField(source="entry_id")
    before = Payload(allow_null=True)
    after = Payload(allow_null=True)


class RejectedShape(serializers.Serializer[Any]):
    """An entry whose changed inputs its module would not take."""

    entryId = serializers.UUIDField(source="entry_id")
    problems = Payload(help_text="Sentences.")


class VersionChangeShape(serializers.Serializer[Any]):
    """How the definition differs from the one that failed."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    changes = serializers.ListField(child=serializers.CharField())
    more = serializers.BooleanField()


class PreviewShape(serializers.Serializer[Any]):
    """What a redrive would do."""

    runs = serializers.IntegerField(help_text="How many entries would run.")
    skipped = SkippedShape(many=True)
    effects = EffectShape(many=True)
    samples = SampleShape(many=True)
    rejected = RejectedShape(many=True)
    checked = serializers.IntegerField(help_text="On how many entries overrides were tried.")
    seconds = serializers.FloatField(help_text="About how long it takes.")
    definitionChanges = VersionChangeShape(many=True, source="definition_changes")
    truncated = serializers.BooleanField()
