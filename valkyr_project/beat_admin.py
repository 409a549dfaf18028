"""The admin pages of django-celery-beat in Unfold's style, with the same forms and actions.

The audit trail records the changes that users make here, as it does for other admin forms.
"""

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
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from executions.admin.base import AuditedAdmin

for model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(model)


class TaskSelect(UnfoldAdminSelectWidget, beat.TaskSelectWidget):
    """The widget that lists the registered tasks, in Unfold's style."""


class PeriodicTaskForm(beat.PeriodicTaskForm):
    """The form of a periodic task: a user selects a registered task or types its name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(beat.PeriodicTaskAdmin, AuditedAdmin):
    """The pages of periodic tasks: the tasks that beat sends, and their times."""

    form = PeriodicTaskForm
    # Beat's own template has an inline script, which pages of this admin must not have.
    change_form_template = None


@admin.register(CrontabSchedule)
class CrontabAdmin(beat.CrontabScheduleAdmin, AuditedAdmin):
    """The pages of crontab schedules."""


@admin.register(IntervalSchedule)
class IntervalAdmin(beat.IntervalScheduleAdmin, AuditedAdmin):
    """The pages of interval schedules."""


@admin.register(SolarSchedule, ClockedSchedule)
class OtherScheduleAdmin(AuditedAdmin):
    """The pages of solar schedules and one-time schedules."""
