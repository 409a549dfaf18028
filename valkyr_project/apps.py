"""The admin site as an app of its own, so that it can carry our title and pages."""

from django.contrib.admin.apps import AdminConfig


class AdminSite(AdminConfig):
    """Django's admin under its usual label."""
