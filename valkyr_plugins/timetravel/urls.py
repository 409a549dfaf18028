"""The URLs of time travel."""

from django.urls import URLPattern, path

from valkyr_plugins.timetravel.api import checkpoints, history

EXECUTION = "v1/WorkflowExecution/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path(
        f"{EXECUTION}/checkpoints",
        checkpoints.Checkpoints.as_view(),
        name="valkyr-execution-checkpoints",
    ),
    path(
        f"{EXECUTION}/checkpoints/<uuid:checkpointId>",
        checkpoints.OneCheckpoint.as_view(),
        name="valkyr-execution-checkpoint",
    ),
    path(
        f"{EXECUTION}/rollback",
        history.RollbackExecution.as_view(),
        name="valkyr-execution-rollback",
    ),
    path(f"{EXECUTION}/fork", history.ForkExecution.as_view(), name="valkyr-execution-fork"),
    path(f"{EXECUTION}/replay", history.ReplayExecution.as_view(), name="valkyr-execution-replay"),
    path(
        "v1/Verification/<uuid:id>", history.OneVerification.as_view(), name="valkyr-verification"
    ),
]
