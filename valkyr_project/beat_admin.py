"""Beat's own admin with Unfold's looks: the same pages, forms and actions."""

from typing import Any

from django.contrib import admin
from django_celery_beat import admin as beat
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

for model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(model)


class TaskSelect(UnfoldAdminSelectWidget, beat.TaskSelectWidget):
    """The registered tasks."""


class PeriodicTaskForm(beat.PeriodicTaskForm):
    """The task, chosen or written."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(beat.PeriodicTaskAdmin, ModelAdmin):
    """What beat sends, and when."""

    form = PeriodicTaskForm


@admin.register(CrontabSchedule)
class CrontabAdmin(beat.CrontabScheduleAdmin, ModelAdmin):
    """Times by a crontab."""


@admin.register(IntervalSchedule)
class IntervalAdmin(beat.IntervalScheduleAdmin, ModelAdmin):
    """Times by an interval."""


@admin.register(SolarSchedule, ClockedSchedule)
class OtherScheduleAdmin(ModelAdmin):
    """Times by the sun, or one time."""
