"""Who sets a new password for themselves leaves a line in the audit trail, without it."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from executions.access.actor import Actor
from executions.accounts import browser_sessions
from executions.admin.audited import note
from executions.vendor_seams.django_admin_password import replace_password_change


@transaction.atomic
def password_change(
    request: HttpRequest, extra_context: dict[str, Any] | None = None
) -> HttpResponse:
    """As the site's; the password and the line that says so, or neither."""
    user: Any = request.user
    before = user.password
    answer = _theirs(request, extra_context)
    if user.password != before:
        changed = get_user_model().objects.get(pk=user.pk)
        note(Actor.of_request(request), "password", changed)
        # The change ended all sessions; this browser, which gave the old password, gets a new one.
        browser_sessions.open_for(request, changed)
    return answer


_theirs = replace_password_change(password_change)
