"""Beat's own admin with Unfold's looks: the same pages, forms and actions.

What is changed there is in the audit trail, as what any form of this admin changes.
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
    """The registered tasks."""


class PeriodicTaskForm(beat.PeriodicTaskForm):
    """The task, chosen or written."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(beat.PeriodicTaskAdmin, AuditedAdmin):
    """What beat sends, and when."""

    form = PeriodicTaskForm
    # Beat's own has an inline script, which no page of this admin may have.
    change_form_template = None


@admin.register(CrontabSchedule)
class CrontabAdmin(beat.CrontabScheduleAdmin, AuditedAdmin):
    """Times by a crontab."""


@admin.register(IntervalSchedule)
class IntervalAdmin(beat.IntervalScheduleAdmin, AuditedAdmin):
    """Times by an interval."""


@admin.register(SolarSchedule, ClockedSchedule)
class OtherScheduleAdmin(AuditedAdmin):
    """Times by the sun, or one time."""
