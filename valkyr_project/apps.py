"""The admin site as an app of its own, so that it can carry our title and pages."""

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig

from executions import environment as env

# allauth's tables; who is linked is `manage.py link_sign_in`'s business.
UNSEEN = {"account", "socialaccount"}


# Those that serve no pages: the admin's forms and views would be a fifth of their memory, and
# more of their start.
PAGELESS = ("worker-", "beat", "consumer", "migrate")


class AdminSite(SimpleAdminConfig):
    """Django's admin under its usual label."""

    def ready(self) -> None:
        """Find every admin page now, unless this process serves none; `urls` does in any case."""
        from valkyr_project import checks  # noqa: F401 - checks register on import
        from valkyr_project.up import stack_health

        stack_health.register_part()
        super().ready()
        if not env.text("VALKYR_PROCESS").startswith(PAGELESS):
            discover()


def discover() -> None:
    """Find every admin page, and leave out those that mean nothing here; twice changes nothing."""
    admin.autodiscover()
    for model in apps.get_models():
        if model._meta.app_label in UNSEEN and admin.site.is_registered(model):
            admin.site.unregister(model)
