"""The admin pages that require a recent sign-in, because they show secrets or change access."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.http import HttpRequest

# Pages of a sensitive model that only read if the request is a GET.
_LISTS = ("changelist_view", "history_view")


def is_sensitive(request: HttpRequest, view: Any) -> bool:
    """Return whether this page shows a secret, or changes permissions.

    The form of such a page is sensitive too, not only the request that submits it. Otherwise typed
    input would be lost.
    """
    page, method = _page_of(view)
    if page is None:
        return False
    if getattr(method, "sensitive", False):
        return True
    if not _is_sensitive_model(page):
        return False
    if method.__name__ in _LISTS:
        return request.method == "POST"
    if method.__name__ == "change_view" and request.method != "POST":
        return bool(page.has_change_permission(request))
    return True


def _is_sensitive_model(page: Any) -> bool:
    # A project's own admin pages for accounts lack the attribute `sensitive`.
    return getattr(page, "sensitive", False) or page.model in (get_user_model(), Group)


def _page_of(view: Any) -> tuple[Any, Any]:
    """Return the admin and its method behind a view's wrappers; (None, None) for other views."""
    while view is not None:
        owner = getattr(view, "__self__", None)
        if isinstance(owner, ModelAdmin):
            return owner, view
        view = getattr(view, "__wrapped__", None)
    return None, None
