"""Whether a person has looked at a dead letter: the first opening of its page is noted."""

from django.http import HttpRequest

from dlq.models import DeadLetterEntry
from executions.database.clock import database_now


def note(request: HttpRequest, entry: DeadLetterEntry) -> None:
    """Note the first look; not that of a browser which fetches ahead, nor of a HEAD."""
    if entry.seen_at is not None or request.method != "GET" or _ahead(request):
        return
    now = database_now()
    if DeadLetterEntry.objects.filter(pk=entry.pk, seen_at=None).update(seen_at=now):
        entry.seen_at = now


def _ahead(request: HttpRequest) -> bool:
    headers = request.headers
    told = (headers.get("Sec-Purpose", ""), headers.get("Purpose", ""), headers.get("X-Moz", ""))
    return any("prefetch" in text or "prerender" in text for text in told)
