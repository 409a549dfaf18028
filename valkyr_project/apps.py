"""The admin site as an app that registers the stand-alone platform's pages."""

from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig

from executions import environment as env

# Processes that serve no pages. The admin's forms and views would take a fifth of their memory, and
# more of their start time.
PAGELESS = ("worker-", "beat", "consumer", "migrate")


class AdminSite(SimpleAdminConfig):
    """The app of Django's admin, under its usual label."""

    def ready(self) -> None:
        """Register the stack's health check and, if this process serves pages, all admin pages.

        In other processes, importing `urls` registers the pages.
        """
        # Import the platform's Celery app, so that it sends all messages.
        from valkyr_project import celery, checks  # noqa: F401 - checks register on import
        from valkyr_project.up import stack_health

        stack_health.register_part()
        super().ready()
        if not env.text("VALKYR_PROCESS").startswith(PAGELESS):
            discover()


def discover() -> None:
    """Register all admin pages. Further calls have no effect."""
    admin.autodiscover()
    from valkyr_project import beat_admin, user_admin  # noqa: F401 - importing registers
