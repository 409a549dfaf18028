"""Register migrations with retention, which deletes those that ended long ago."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from dlq.public.retention import Aged, add_kind
from executions.public.configuration import read
from executions.public.database import delete_without_cascade
from valkyr_plugins.version_migration.conf import VersionMigrationSettings
from valkyr_plugins.version_migration.models import FINAL, ExecutionMigration, MigratedExecution


def keep_days() -> float:
    """Return the retention of ended migrations, in days; 0 means forever."""
    return read(VersionMigrationSettings).keep_migrations_days


def _over(before: datetime) -> QuerySet[ExecutionMigration]:
    return ExecutionMigration.objects.filter(state__in=sorted(FINAL), finished_at__lt=before)


def _delete_items(migrations: Sequence[Any], most: int) -> int:
    items = MigratedExecution.objects.filter(migration_id__in=migrations)
    chosen = items.values("pk")[:most]
    return delete_without_cascade(MigratedExecution.objects.filter(pk__in=chosen))


add_kind(
    Aged(
        "migrations of executions",
        keep_days,
        _over,
        "finished_at",
        "pk",
        "workspace_id",
        "workflow_id",
        clear=_delete_items,
    )
)
