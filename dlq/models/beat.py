"""The records of beat's duties: the last run, and the progress of retention."""

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp


class BeatPulse(models.Model):
    """The time at which any duty of beat last ran, in a table with one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    ticked_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="beat_pulse_only_one")]

    def __str__(self) -> str:
        return f"{self.ticked_at:%Y-%m-%d %H:%M:%S}"


class RetentionMark(models.Model):
    """The position that a walk of retention has reached: the last execution's end time and ID."""

    name = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()
    row = models.UUIDField()

    def __str__(self) -> str:
        return f"{self.name} up to {self.at:%Y-%m-%d %H:%M:%S}"
