"""The admin site's page for users to change their password.

Relies on: `admin.site.password_change`, which the site's URLs read when they are built (Django 5.2,
Unfold 0.91).
No public way: Django sends no signal for a changed password, and Unfold has its own site, so a
subclass of Django's would not be used.
If it breaks: a changed password leaves no entry in the audit trail, and ends the session of the
browser that changed it.
"""

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponse

View = Callable[..., HttpResponse]


def replace_password_change(view: View) -> View:
    """Replace the site's view for password changes with `view`; return the previous view."""
    theirs: View = admin.site.password_change
    admin.site.password_change = view  # type: ignore[method-assign, assignment]
    return theirs
