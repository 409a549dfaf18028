"""Our pages on an admin site of the project's own, beside or in place of Django's."""

from django.apps import apps
from django.contrib import admin
from django.contrib.admin import AdminSite

from executions.database.routing import is_ours


def register_on(site: AdminSite) -> int:
    """Register the pages of all our models on another site; returns how many.

    Call it where addresses are made (`urls.py`): all apps have registered their pages by then. What
    is registered there already stays as it is.
    """
    found = 0
    for model in filter(admin.site.is_registered, filter(is_ours, apps.get_models())):
        if not site.is_registered(model):
            site.register(model, type(admin.site.get_model_admin(model)))
            found += 1
    return found
