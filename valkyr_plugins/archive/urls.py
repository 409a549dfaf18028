"""The URLs of the archive."""

from django.urls import URLPattern, path

from valkyr_plugins.archive import api

EXECUTION = "v1/WorkflowExecution/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/ArchiveFile", api.ArchiveFiles.as_view(), name="valkyr-archive-files"),
    path(
        f"{EXECUTION}/archive",
        api.ArchivedExecutionView.as_view(),
        name="valkyr-archived-execution",
    ),
    path(f"{EXECUTION}/restore", api.RestoreExecution.as_view(), name="valkyr-restore-execution"),
]
