"""The URLs of migrations of executions."""

from django.urls import path

from valkyr_plugins.version_migration import api

MIGRATION = "v1/ExecutionMigration/<uuid:id>"

urlpatterns = [
    path(
        "v1/Workflow/<uuid:id>/live-versions",
        api.LiveVersions.as_view(),
        name="valkyr-workflow-live-versions",
    ),
    path("v1/ExecutionMigration", api.Migrations.as_view(), name="valkyr-migrations"),
    path(MIGRATION, api.OneMigration.as_view(), name="valkyr-migration"),
    path(f"{MIGRATION}/preview", api.PreviewMigration.as_view(), name="valkyr-migration-preview"),
    path(
        f"{MIGRATION}/executions",
        api.MigratedExecutions.as_view(),
        name="valkyr-migration-executions",
    ),
    path(f"{MIGRATION}/start", api.StartMigration.as_view(), name="valkyr-migration-start"),
    path(f"{MIGRATION}/pause", api.PauseMigration.as_view(), name="valkyr-migration-pause"),
    path(f"{MIGRATION}/resume", api.ResumeMigration.as_view(), name="valkyr-migration-resume"),
    path(f"{MIGRATION}/cancel", api.CancelMigration.as_view(), name="valkyr-migration-cancel"),
]
