from django.contrib import admin
from django.urls import include, path

from executions.plugins import plugins

urlpatterns = [
    path("admin/", admin.site.urls),
    *(path("", include(plugin.pages)) for plugin in plugins() if plugin.pages),
    path("", include("executions.studio.urls")),
    path("", include("executions.api.urls")),
    path("", include("runners.api.urls")),
    path("", include("dlq.api.urls")),
    *(path("", include(plugin.api)) for plugin in plugins() if plugin.api),
]
