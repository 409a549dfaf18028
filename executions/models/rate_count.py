"""Counters of rates, which all processes share even without Redis."""

from django.db import models


class RateCount(models.Model):
    """The number of events of one kind and origin in the minute that ends at `ends_at`.

    The key is a digest of the kind and the origin, which reveals no names or addresses.
    """

    key = models.CharField(max_length=32, primary_key=True)
    used = models.IntegerField()
    ends_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["ends_at"], name="rate_count_age")]

    def __str__(self) -> str:
        return f"{self.used} until {self.ends_at}"
