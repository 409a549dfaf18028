"""The addresses of redrives."""

from django.urls import path

from valkyr_plugins.redrive.api import redrives

REDRIVE = "v1/Redrive/<uuid:id>"

urlpatterns = [
    path("v1/DeadLetterQueue/requeue", redrives.RequeueEntries.as_view()),
    path("v1/Redrive", redrives.Redrives.as_view()),
    path(REDRIVE, redrives.OneRedrive.as_view()),
    path(f"{REDRIVE}/items", redrives.Items.as_view()),
    path(f"{REDRIVE}/preview", redrives.PreviewRedrive.as_view()),
    path(f"{REDRIVE}/start", redrives.StartRedrive.as_view()),
    path(f"{REDRIVE}/pause", redrives.PauseRedrive.as_view()),
    path(f"{REDRIVE}/resume", redrives.ResumeRedrive.as_view()),
    path(f"{REDRIVE}/abort", redrives.AbortRedrive.as_view()),
]
