"""The URLs of the stand-alone platform."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

import valkyr.urls
from valkyr_project.apps import discover

discover()
urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("valkyr.urls")),
    # In the platform, all of these addresses belong to the API.
    re_path(r"^(?:v1|api/v1)(?:/.*)?$", valkyr.urls.nowhere),
]

handler400 = "executions.api.problems.bad_request"
handler403 = "executions.api.problems.refused"
handler404 = "executions.api.problems.not_found"
handler500 = "executions.api.problems.failed"
