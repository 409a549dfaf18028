"""The addresses of runs."""

from django.urls import URLPattern, path

from runners.api import decisions, runs

urlpatterns: list[URLPattern] = [
    path("v1/Run", runs.Runs.as_view()),
    path("v1/Run/<uuid:id>", runs.OneRun.as_view()),
    path("v1/Run/<uuid:id>/decide", decisions.Decide.as_view()),
    path("v1/WorkflowExecution/<uuid:id>/timeline", runs.Timeline.as_view()),
]
