"""Sessions that are over; a sign-in that was begun and given up leaves one, too."""

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

MOST_AT_ONCE = 10_000


@shared_task(name="sso.clear_sessions")
def clear_sessions() -> int:
    """Every hour: delete sessions that are over, the oldest first, so many at most; how many."""
    over = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    keys = list(over.values_list("pk", flat=True)[:MOST_AT_ONCE])
    return Session.objects.filter(pk__in=keys).delete()[0]
