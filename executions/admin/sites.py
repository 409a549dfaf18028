"""Register Valkyr's pages on a project's own admin site."""

from django.apps import apps
from django.contrib import admin
from django.contrib.admin import AdminSite

from executions.database.routing import is_ours


def register_on(site: AdminSite) -> int:
    """Register the pages of all Valkyr models on another site; return the number of models.

    Call it in `urls.py`, after all apps have registered their pages. Models that the site has
    already registered keep their pages.
    """
    found = 0
    for model in filter(admin.site.is_registered, filter(is_ours, apps.get_models())):
        if not site.is_registered(model):
            site.register(model, type(admin.site.get_model_admin(model)))
            found += 1
    return found
