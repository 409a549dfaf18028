"""The admin site's page on which people change their own password.

Relies on: `admin.site.password_change`, which the site's URLs read when they are built
(Django 5.2, Unfold 0.91).
No public way: Django sends no signal for a changed password, and Unfold brings a site of its own,
so a subclass of Django's would not be used.
If it breaks: a changed password leaves no line in the audit trail, and ends the session of the
browser that changed it.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin


def replace_password_change(view: Callable[..., Any]) -> Callable[..., Any]:
    """Serve this view in place of the site's; returns the one that was served."""
    theirs: Callable[..., Any] = admin.site.password_change
    admin.site.password_change = view  # type: ignore[method-assign, assignment]
    return theirs
