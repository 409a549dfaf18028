"""The URLs of redrives."""

from django.urls import path

from valkyr_plugins.redrive.api import redrives

REDRIVE = "v1/Redrive/<uuid:id>"

urlpatterns = [
    path(
        "v1/DeadLetterQueue/requeue",
        redrives.RequeueEntries.as_view(),
        name="valkyr-dead-letters-requeue",
    ),
    path("v1/Redrive", redrives.Redrives.as_view(), name="valkyr-redrives"),
    path(
        "v1/Redrive/preview",
        redrives.PreviewNewRedrive.as_view(),
        name="valkyr-redrives-preview",
    ),
    path(REDRIVE, redrives.OneRedrive.as_view(), name="valkyr-redrive"),
    path(f"{REDRIVE}/items", redrives.Items.as_view(), name="valkyr-redrive-items"),
    path(f"{REDRIVE}/preview", redrives.PreviewRedrive.as_view(), name="valkyr-redrive-preview"),
    path(f"{REDRIVE}/start", redrives.StartRedrive.as_view(), name="valkyr-redrive-start"),
    path(f"{REDRIVE}/pause", redrives.PauseRedrive.as_view(), name="valkyr-redrive-pause"),
    path(f"{REDRIVE}/resume", redrives.ResumeRedrive.as_view(), name="valkyr-redrive-resume"),
    path(f"{REDRIVE}/abort", redrives.AbortRedrive.as_view(), name="valkyr-redrive-abort"),
]
