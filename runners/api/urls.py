"""The addresses of runs."""

from django.urls import URLPattern, path

from runners.api import (
    runners,
    runs,
    waits,
)
from runners.api.execution import ExecutionGraph, ExplainExecution
from runners.api.last_results import LastResultsOf
from runners.api.runs import RevealRun
from runners.api.subscribing import SubscribeExecution, SubscribeWorkflow
from runners.api.waits import Callback, SignalExecution

EXECUTION = "v1/WorkflowExecution/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/Workflow/<uuid:id>/last-results", LastResultsOf.as_view()),
    path("v1/Run", runs.Runs.as_view()),
    path("v1/Runner", runners.Runners.as_view()),
    path("v1/Runner/<uuid:id>", runners.OneRunner.as_view()),
    path("v1/Run/<uuid:id>", runs.OneRun.as_view()),
    path("v1/Run/<uuid:id>/reveal", RevealRun.as_view()),
    path("v1/Run/<uuid:id>/decide", waits.Decide.as_view()),
    path("v1/callbacks/<str:token>", Callback.as_view()),
    path("v1/WorkflowExecution/<uuid:id>/signal", SignalExecution.as_view()),
    path(f"{EXECUTION}/explain", ExplainExecution.as_view()),
    path(f"{EXECUTION}/graph", ExecutionGraph.as_view()),
    path(f"{EXECUTION}/subscribe", SubscribeExecution.as_view()),
    path("v1/vaiworkflow/subscribe/<uuid:workflowId>", SubscribeWorkflow.as_view()),
    path(f"{EXECUTION}/timeline", runs.Timeline.as_view()),
]
