"""The addresses of dead letters."""

from django.urls import URLPattern, path

from dlq.api import entries

ENTRY = "v1/DeadLetterQueue/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/DeadLetterQueue", entries.Entries.as_view()),
    path(ENTRY, entries.OneEntry.as_view()),
    path(f"{ENTRY}/requeue", entries.Requeue.as_view()),
    path(f"{ENTRY}/discard", entries.DiscardEntry.as_view()),
    path("v1/Run/<uuid:id>/quarantine", entries.QuarantineRun.as_view()),
]
