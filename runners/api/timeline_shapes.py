"""An execution's runs on the time axis as JSON, and which of them one asks for."""
# ruff: noqa: N815 - the names are the JSON's

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.modules import CONTAINERS
from executions.api.paging import PageQuery
from executions.definition.catalog import catalog
from executions.definition.graph.places import split
from executions.definition.graph.turns import LoopTurns, MapTurns
from runners.api.run_shapes import ERROR_TYPES, STATES, WAITS
from runners.models import Run

MAX_TIMELINE = 5000


class Counters(CamelCaseSerializer):
    """How far a container is: a loop by its iteration, a map by its items."""

    iteration = serializers.IntegerField(required=False, help_text="A loop's, from 1.")
    count = serializers.IntegerField(
        required=False, allow_null=True, help_text="How many iterations; null where it depends."
    )
    most = serializers.IntegerField(
        required=False, allow_null=True, help_text="How many there may be, where it depends."
    )
    total = serializers.IntegerField(required=False, help_text="A map's items.")
    done = serializers.IntegerField(required=False, help_text="Those that ended, well or not.")
    open = serializers.IntegerField(required=False, help_text="Those under way.")
    failedItem = serializers.IntegerField(
        required=False, allow_null=True, help_text="The one whose failure ends the map."
    )


class Bar(CamelCase, serializers.ModelSerializer[Run]):
    """One attempt of one step on the time axis.

    Give `now` and `children` (a child execution's id by run) as context.
    """

    step_path = serializers.CharField()
    place = serializers.SerializerMethodField(
        help_text='The turn of a body it belongs to, such as "refine[2]."; "" is the workflow.'
    )
    task_id = serializers.UUIDField()
    container = serializers.SerializerMethodField(
        help_text="Whether it is a loop or a map; its body's steps have bars of their own."
    )
    state = serializers.ChoiceField(STATES)
    queued_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(
        allow_null=True, help_text="When it began, before any wait."
    )
    finished_at = serializers.DateTimeField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)
    error_type = serializers.ChoiceField(ERROR_TYPES, allow_blank=True)
    waits_for = serializers.ChoiceField(
        WAITS, help_text='What it waits, or waited, for; "" is nothing.'
    )
    waitedMs = serializers.SerializerMethodField(
        help_text="How much of the time since `startedAt` it slept; until now while it waits."
    )
    waitsUntil = serializers.SerializerMethodField(
        help_text="When it goes on by itself; null where it does not."
    )
    progress = serializers.SerializerMethodField()
    childExecutionId = serializers.SerializerMethodField()
    cached_from = serializers.UUIDField(
        allow_null=True, help_text="The run whose result it reused."
    )

    class Meta:
        model = Run
        fields = [
            "id", "step_path", "place", "task_id", "module", "container", "attempt", "state",
            "queued_at", "started_at", "finished_at", "duration_ms", "outcome", "error_type",
            "waits_for", "waitedMs", "waitsUntil", "progress", "childExecutionId", "cached_from",
            "superseded",
        ]  # fmt: skip

    def get_place(self, run: Run) -> str:
        """The prefix of its path."""
        return split(run.step_path)[0]

    @extend_schema_field(serializers.ChoiceField(CONTAINERS))
    def get_container(self, run: Run) -> str:
        """Its module's kind."""
        spec = catalog().get(run.module)
        return spec.container if spec else ""

    def get_waitedMs(self, run: Run) -> float | None:  # noqa: N802 - the field's name
        """What was noted when it woke; else until it ended, or now."""
        if not run.waits_for or run.started_at is None:
            return None
        noted = getattr(run, "waited_seconds", None)
        if noted is not None:
            return 1_000 * float(noted)
        until = run.finished_at or self.context["now"]
        return float(1_000 * (until - run.started_at).total_seconds())

    def get_waitsUntil(self, run: Run) -> datetime | None:  # noqa: N802 - the field's name
        """A waiting run's timer or expiry."""
        return run.due_at if run.state == "WAITING" else None

    @extend_schema_field(Counters(allow_null=True))
    def get_progress(self, run: Run) -> dict[str, Any] | None:
        """A container's counters, in short."""
        return counters(run.progress) if run.waits_for == "body" and run.progress else None

    def get_childExecutionId(self, run: Run) -> UUID | None:  # noqa: N802 - the field's name
        """The execution that it started."""
        child = self.context["children"].get(run.pk)
        return child.id if child else None


def counters(document: dict[str, Any]) -> dict[str, Any]:
    """What `Counters` shows of a container's own counters."""
    if "total" not in document:
        loop = LoopTurns.read(document)
        return {"iteration": loop.index + 1, "count": loop.count, "most": loop.most or None}
    items = MapTurns.read(document)
    return {
        "total": items.total,
        "done": items.next - len(items.open) - len(items.spare),
        "open": len(items.open),
        "failedItem": items.failed,
    }


class TimelineQuery(PageQuery):
    """A timeline comes whole; only one of more than 5,000 bars comes in pages."""

    limit: Any = serializers.IntegerField(
        required=False, default=MAX_TIMELINE, min_value=1, max_value=MAX_TIMELINE
    )
    place = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=1000,
        help_text='How step paths begin: "refine[2]." is one iteration, "batch[" all items.',
    )
    nested = serializers.BooleanField(
        required=False,
        default=True,
        help_text="Whether to show what runs inside the bodies in that place as well.",
    )
    superseded = serializers.BooleanField(
        required=False, default=False, help_text="Whether to show what was rolled back as well."
    )
