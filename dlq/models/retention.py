"""How far retention has come."""

from django.db import models


class RetentionMark(models.Model):
    """Where a walk through the finished executions goes on: behind this end and id."""

    name = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()
    row = models.UUIDField()

    def __str__(self) -> str:
        return f"{self.name} up to {self.at:%Y-%m-%d %H:%M:%S}"
