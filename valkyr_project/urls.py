"""Every address the project answers on."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from executions.api.endpoint import Nowhere
from executions.plugins import plugins
from valkyr_project.apps import discover

discover()
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", admin.site.urls),
    *(path("", include(plugin.pages)) for plugin in plugins() if plugin.pages),
    path("", include("executions.studio.urls")),
    path("", include("executions.api.urls")),
    path("", include("runners.api.urls")),
    path("", include("dlq.api.urls")),
    *(path("", include(plugin.api)) for plugin in plugins() if plugin.api),
    re_path(r"^(?:v1|api/v1)(?:/.*)?$", Nowhere.as_view()),
]

handler400 = "executions.api.problems.bad_request"
handler403 = "executions.api.problems.refused"
handler404 = "executions.api.problems.not_found"
handler500 = "executions.api.problems.failed"
