"""The URLs of the studio's pages."""

from django.urls import URLPattern, path

from executions.studio import pages

urlpatterns: list[URLPattern] = [
    path("studio/", pages.home, name="valkyr-studio"),
    path("studio/<uuid:workflow_id>/", pages.workflow, name="valkyr-studio-workflow"),
]
