"""The stand-alone platform's pages of django-celery-beat's rows, to read.

The engine's own entries and those that publishing keeps in step. A project that has beat's own
pages keeps them: the engine registers nothing for beat.
"""

from typing import Any

import django_celery_beat.admin  # noqa: F401 - registers what is replaced here
from django.contrib import admin
from django.http import HttpRequest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from executions.access.powers import Power
from executions.admin import marks
from executions.admin.base import FactAdmin
from executions.admin.sections import Page, facts, text_section
from executions.admin.skin import display

for model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(model)


class BeatAdmin(FactAdmin):
    """Rows of beat belong to no workspace; Django's permissions decide."""

    shared = True

    def scope(self, request: HttpRequest, rows: Any, action: Power) -> Any:
        """All of them."""
        return rows


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(BeatAdmin):
    """What beat sends and when; change a workflow's `triggers:` to change its schedule."""

    list_display = ("name", "task", "plan", "enabled", "last_run", "total_run_count")
    list_select_related = ("interval", "crontab", "solar", "clocked")
    list_filter = ("enabled",)
    ordering = ("name",)
    empty_text = "No schedules: beat writes its own when it starts."
    search_texts = ("name", "task")

    @display(description="schedule")
    def plan(self, row: PeriodicTask) -> str:
        """When it is due."""
        return str(row.interval or row.crontab or row.solar or row.clocked or marks.EMPTY)

    @display(description="last sent")
    def last_run(self, row: PeriodicTask) -> Any:
        """How long ago it was sent."""
        return marks.ago(row.last_run_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One entry of beat's table."""
        return Page(
            [obj.name],
            facts(
                [
                    ("Task", obj.task),
                    ("Schedule", self.plan(obj)),
                    ("Enabled", "yes" if obj.enabled else "no"),
                    ("Last sent", marks.ago(obj.last_run_at)),
                    ("Times sent", str(obj.total_run_count)),
                    ("Queue", obj.queue),
                    ("Description", obj.description),
                ]
            ),
            [text_section("Arguments", f"args: {obj.args}\nkwargs: {obj.kwargs}")],
        )


@admin.register(ClockedSchedule, CrontabSchedule, IntervalSchedule, SolarSchedule)
class PlanAdmin(BeatAdmin):
    """The times that entries of beat share."""

    list_display = ("__str__",)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One schedule and what uses it."""
        uses = obj.periodictask_set.order_by("name").values_list("name", flat=True)[:50]
        return Page([str(obj)], facts([("Used by", ", ".join(uses))]))
