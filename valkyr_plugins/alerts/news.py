"""What happens is left as news for the alerts, in the transaction in which it happens."""

from valkyr_plugins.alerts.finding import Finding
from valkyr_plugins.alerts.models import AlertKind, AlertNews


def leave(finding: Finding) -> None:
    """Leave word of it; one insert, and nobody is waited for."""
    assert finding.workspace_id is not None, "what happens, happens in a workspace"
    AlertNews.objects.create(
        kind=finding.kind,
        workspace_id=finding.workspace_id,
        workflow_id=finding.workflow_id,
        subject=finding.subject,
        sentence=finding.sentence[:1_000],
        path=finding.path[:500],
        details=dict(finding.details),
    )


def read(row: AlertNews) -> Finding:
    """The finding that was left."""
    return Finding(
        kind=AlertKind(row.kind),
        subject=row.subject,
        sentence=row.sentence,
        path=row.path,
        details=row.details,
        workspace_id=row.workspace_id,
        workflow_id=row.workflow_id,
    )
