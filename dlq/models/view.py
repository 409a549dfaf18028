"""Saved views: a list with its filters, stored under a name as the query string of its URL."""

from django.conf import settings
from django.db import models

from executions.database.accounts import cascade
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7


class SavedView(models.Model):
    """A user's view of a list: `page` is the list (`app_model`), `query` the URL's query string."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade, related_name="+", db_index=False
    )
    page = models.CharField(max_length=100)
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=4_000)
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "page", "name"], name="saved_view_once"),
        ]

    def __str__(self) -> str:
        return self.name
