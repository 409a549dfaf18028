"""What a redrive would do, as JSON."""

from rest_framework import serializers

from executions.api.camel_case import CamelCaseSerializer
from executions.api.fields import Payload


class SkippedShape(CamelCaseSerializer):
    """Entries that would not run."""

    reason = serializers.CharField()
    count = serializers.IntegerField()


class EffectShape(CamelCaseSerializer):
    """A step with effects outside that would run again."""

    step = serializers.CharField()
    module = serializers.CharField()
    effect = serializers.ChoiceField(["idempotent", "external"])
    count = serializers.IntegerField()


class SampleShape(CamelCaseSerializer):
    """What the overrides make of one entry."""

    entry_id = serializers.UUIDField()
    before = Payload(allow_null=True)
    after = Payload(allow_null=True)


class RejectedShape(CamelCaseSerializer):
    """An entry whose changed inputs its module would not take."""

    entry_id = serializers.UUIDField()
    problems = Payload(help_text="Sentences.")


class VersionChangeShape(CamelCaseSerializer):
    """How the definition differs from the one that failed."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    changes = serializers.ListField(child=serializers.CharField())
    more = serializers.BooleanField()


class PreviewShape(CamelCaseSerializer):
    """What a redrive would do."""

    runs = serializers.IntegerField(help_text="How many entries would run.")
    skipped = SkippedShape(many=True)
    effects = EffectShape(many=True)
    samples = SampleShape(many=True)
    rejected = RejectedShape(many=True)
    checked = serializers.IntegerField(help_text="On how many entries overrides were tried.")
    seconds = serializers.FloatField(help_text="About how long it takes.")
    definition_changes = VersionChangeShape(many=True)
    truncated = serializers.BooleanField()
