"""The URLs of runs, runners and waits, and of the states and results of executions."""

from django.urls import URLPattern, path

from executions.addresses import CALLBACKS
from runners.api import (
    runners,
    runs,
    waits,
)
from runners.api.execution import ExecutionGraph, ExplainExecution
from runners.api.last_results import LastResultsOf
from runners.api.runs import RevealRun
from runners.api.stored import ExecutionOutput, RunOutput, StoredValue
from runners.api.subscribing import SubscribeExecution, SubscribeWorkflow
from runners.api.waits import Callback, SignalExecution

EXECUTION = "v1/WorkflowExecution/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path(
        "v1/Workflow/<uuid:id>/last-results",
        LastResultsOf.as_view(),
        name="valkyr-workflow-last-results",
    ),
    path("v1/Run", runs.Runs.as_view(), name="valkyr-runs"),
    path("v1/Runner", runners.Runners.as_view(), name="valkyr-runners"),
    path("v1/Runner/<uuid:id>", runners.OneRunner.as_view(), name="valkyr-runner"),
    path("v1/Run/<uuid:id>", runs.OneRun.as_view(), name="valkyr-run"),
    path("v1/Run/<uuid:id>/reveal", RevealRun.as_view(), name="valkyr-run-reveal"),
    path("v1/Run/<uuid:id>/output", RunOutput.as_view(), name="valkyr-run-output"),
    path("v1/Run/<uuid:id>/decide", waits.Decide.as_view(), name="valkyr-run-decide"),
    path(f"{CALLBACKS}<str:token>", Callback.as_view(), name="valkyr-callback"),
    path(
        "v1/WorkflowExecution/<uuid:id>/signal",
        SignalExecution.as_view(),
        name="valkyr-execution-signal",
    ),
    path(f"{EXECUTION}/explain", ExplainExecution.as_view(), name="valkyr-execution-explain"),
    path(f"{EXECUTION}/output", ExecutionOutput.as_view(), name="valkyr-execution-output"),
    path(
        f"{EXECUTION}/stored/<uuid:storedId>",
        StoredValue.as_view(),
        name="valkyr-execution-stored",
    ),
    path(f"{EXECUTION}/graph", ExecutionGraph.as_view(), name="valkyr-execution-graph"),
    path(f"{EXECUTION}/subscribe", SubscribeExecution.as_view(), name="valkyr-execution-subscribe"),
    path(
        "v1/vaiworkflow/subscribe/<uuid:workflowId>",
        SubscribeWorkflow.as_view(),
        name="valkyr-workflow-subscribe",
    ),
    path(f"{EXECUTION}/timeline", runs.Timeline.as_view(), name="valkyr-execution-timeline"),
]
