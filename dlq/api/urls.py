"""The addresses of dead letters."""

from django.urls import URLPattern, path

from dlq.api import entries, export, groups, resolving

ENTRY = "v1/DeadLetterQueue/<uuid:id>"
GROUP = "v1/FailureGroup/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/DeadLetterQueue", entries.Entries.as_view()),
    path("v1/DeadLetterQueue/export", export.ExportEntries.as_view()),
    path("v1/DeadLetterQueue/discard", resolving.DiscardEntries.as_view()),
    path(ENTRY, entries.OneEntry.as_view()),
    path(f"{ENTRY}/requeue", resolving.Requeue.as_view()),
    path(f"{ENTRY}/discard", resolving.DiscardEntry.as_view()),
    path(f"{ENTRY}/fix", resolving.Fix.as_view()),
    path(f"{ENTRY}/curl", export.CopyAsCurl.as_view()),
    path(f"{ENTRY}/pytest", export.CopyAsPytest.as_view()),
    path(f"{ENTRY}/skip", resolving.Skip.as_view()),
    path(f"{ENTRY}/restore", resolving.RestoreEntry.as_view()),
    path(f"{ENTRY}/pin", resolving.PinEntry.as_view()),
    path(f"{ENTRY}/unpin", resolving.UnpinEntry.as_view()),
    path(f"{ENTRY}/reveal", entries.RevealEntry.as_view()),
    path("v1/Run/<uuid:id>/quarantine", entries.QuarantineRun.as_view()),
    path("v1/FailureGroup", groups.Groups.as_view()),
    path("v1/FailureGroup/status", groups.ChangeGroups.as_view()),
    path(GROUP, groups.OneGroup.as_view()),
    path(f"{GROUP}/notes", groups.GroupNotes.as_view()),
    path(f"{GROUP}/merge", groups.MergeGroups.as_view()),
    path(f"{GROUP}/unmerge", groups.UnmergeGroup.as_view()),
    path(f"{GROUP}/split", groups.SplitGroup.as_view()),
]
