from django.apps import apps
from django.contrib import admin
from django.urls import include, path
from unfold.sites import UnfoldAdminSite

from executions.plugins import plugins
from executions.public.admin import register_on

# With django-unfold, the class of each site is its own.
office = (UnfoldAdminSite if apps.is_installed("unfold") else admin.AdminSite)(name="office")
register_on(office)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("office/", office.urls),
    *(path("", include(plugin.pages)) for plugin in plugins() if plugin.pages),
    path("", include("executions.studio.urls")),
    path("", include("executions.api.urls")),
    path("", include("runners.api.urls")),
    path("", include("dlq.api.urls")),
    *(path("", include(plugin.api)) for plugin in plugins() if plugin.api),
]
