"""The admin site's page on which people change their own password.

Relies on: `admin.site.password_change`, which the site's URLs read when they are built
(Django 5.2, Unfold 0.91).
No public way: Django sends no signal for a changed password, and Unfold brings a site of its own,
so a subclass of Django's would not be used.
If it breaks: a changed password leaves no line in the audit trail, and ends the session of the
browser that changed it.
"""

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponse

View = Callable[..., HttpResponse]


def replace_password_change(view: View) -> View:
    """Serve this view in place of the site's; returns the one that was served."""
    theirs: View = admin.site.password_change
    admin.site.password_change = view  # type: ignore[method-assign, assignment]
    return theirs
