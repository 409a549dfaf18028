"""The URLs of dead letters and failure groups."""

from django.urls import URLPattern, path

from dlq.api import entries, export, groups, resolving

ENTRY = "v1/DeadLetterQueue/<uuid:id>"
GROUP = "v1/FailureGroup/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/DeadLetterQueue", entries.Entries.as_view(), name="valkyr-dead-letters"),
    path(
        "v1/DeadLetterQueue/export",
        export.ExportEntries.as_view(),
        name="valkyr-dead-letters-export",
    ),
    path(
        "v1/DeadLetterQueue/labels",
        entries.DeadLetterLabelCounts.as_view(),
        name="valkyr-dead-letter-labels",
    ),
    path(
        "v1/DeadLetterQueue/discard",
        resolving.DiscardEntries.as_view(),
        name="valkyr-dead-letters-discard",
    ),
    path(ENTRY, entries.OneEntry.as_view(), name="valkyr-dead-letter"),
    path(f"{ENTRY}/requeue", resolving.Requeue.as_view(), name="valkyr-dead-letter-requeue"),
    path(f"{ENTRY}/discard", resolving.DiscardEntry.as_view(), name="valkyr-dead-letter-discard"),
    path(f"{ENTRY}/fix", resolving.Fix.as_view(), name="valkyr-dead-letter-fix"),
    path(f"{ENTRY}/curl", export.CopyAsCurl.as_view(), name="valkyr-dead-letter-curl"),
    path(f"{ENTRY}/pytest", export.CopyAsPytest.as_view(), name="valkyr-dead-letter-pytest"),
    path(f"{ENTRY}/skip", resolving.Skip.as_view(), name="valkyr-dead-letter-skip"),
    path(f"{ENTRY}/restore", resolving.RestoreEntry.as_view(), name="valkyr-dead-letter-restore"),
    path(f"{ENTRY}/pin", resolving.PinEntry.as_view(), name="valkyr-dead-letter-pin"),
    path(f"{ENTRY}/unpin", resolving.UnpinEntry.as_view(), name="valkyr-dead-letter-unpin"),
    path(f"{ENTRY}/reveal", entries.RevealEntry.as_view(), name="valkyr-dead-letter-reveal"),
    path(
        "v1/Run/<uuid:id>/quarantine", entries.QuarantineRun.as_view(), name="valkyr-run-quarantine"
    ),
    path("v1/FailureGroup", groups.Groups.as_view(), name="valkyr-failure-groups"),
    path(
        "v1/FailureGroup/status", groups.ChangeGroups.as_view(), name="valkyr-failure-groups-status"
    ),
    path(GROUP, groups.OneGroup.as_view(), name="valkyr-failure-group"),
    path(f"{GROUP}/notes", groups.GroupNotes.as_view(), name="valkyr-failure-group-notes"),
    path(f"{GROUP}/merge", groups.MergeGroups.as_view(), name="valkyr-failure-group-merge"),
    path(f"{GROUP}/unmerge", groups.UnmergeGroup.as_view(), name="valkyr-failure-group-unmerge"),
    path(f"{GROUP}/split", groups.SplitGroup.as_view(), name="valkyr-failure-group-split"),
]
