"""The admin site as an app of its own, so that it can carry our title and pages."""

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig

# allauth's tables; who is linked is `manage.py link_sign_in`'s business.
UNSEEN = {"account", "socialaccount"}


class AdminSite(AdminConfig):
    """Django's admin under its usual label."""

    def ready(self) -> None:
        """Find every admin page, and leave out those that mean nothing here."""
        from valkyr_project import checks  # noqa: F401 - registers on import

        super().ready()
        unseen = [model for model in admin.site._registry if model._meta.app_label in UNSEEN]
        admin.site.unregister(unseen)
