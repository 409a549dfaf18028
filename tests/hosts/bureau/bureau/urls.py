"""The project's URLs: pages are under their language, and answer every other path."""

from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path, re_path

urlpatterns = [
    path("internal/flows/", include("valkyr.urls")),
    *i18n_patterns(
        path("backoffice/", admin.site.urls),
        re_path("^.*$", lambda request: HttpResponse("a page of the bureau")),
    ),
]
