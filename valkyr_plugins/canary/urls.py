"""The URLs of canary versions and rollbacks."""

from django.urls import path

from valkyr_plugins.canary import api

WORKFLOW = "v1/Workflow/<uuid:id>"

urlpatterns = [
    path(f"{WORKFLOW}/canary", api.WorkflowCanary.as_view(), name="valkyr-workflow-canary"),
    path(
        f"{WORKFLOW}/canary/promote",
        api.PromoteCanary.as_view(),
        name="valkyr-workflow-canary-promote",
    ),
    path(f"{WORKFLOW}/canary/stop", api.StopCanary.as_view(), name="valkyr-workflow-canary-stop"),
    path(f"{WORKFLOW}/canaries", api.WorkflowCanaries.as_view(), name="valkyr-workflow-canaries"),
    path(
        f"{WORKFLOW}/rollbacks",
        api.WorkflowRollbacks.as_view(),
        name="valkyr-workflow-rollbacks",
    ),
]
