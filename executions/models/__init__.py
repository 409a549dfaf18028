"""The tables of this app, one group of related tables per file."""

from executions.models.account import ApiToken, ServiceAccount
from executions.models.activity import Activity, AuditSeal
from executions.models.bundle import AppliedBundle
from executions.models.execution import WorkflowExecution
from executions.models.idempotency import KeptAnswer
from executions.models.job import Job
from executions.models.label import ExecutionLabel
from executions.models.object_permission import WorkflowGroupPermission, WorkflowUserPermission
from executions.models.quota_use import QuotaUse
from executions.models.rate_count import RateCount
from executions.models.secret import Credential, CredentialUse, Keyset, PayloadKey
from executions.models.session import AccountSession
from executions.models.stored_payload import StoredPayload, StoredPayloadUse
from executions.models.trigger import (
    CronTick,
    Event,
    RefusedMessage,
    Trigger,
    WebhookDelivery,
)
from executions.models.workflow import Workflow, WorkflowVersion
from executions.models.workspace import Membership, Tier, Workspace
from executions.models.workspace_move import WorkspaceMove

__all__ = [
    "AccountSession",
    "Activity",
    "ApiToken",
    "AppliedBundle",
    "AuditSeal",
    "Credential",
    "CredentialUse",
    "CronTick",
    "Event",
    "ExecutionLabel",
    "Job",
    "KeptAnswer",
    "Keyset",
    "Membership",
    "PayloadKey",
    "QuotaUse",
    "RateCount",
    "RefusedMessage",
    "ServiceAccount",
    "StoredPayload",
    "StoredPayloadUse",
    "Tier",
    "Trigger",
    "WebhookDelivery",
    "Workflow",
    "WorkflowExecution",
    "WorkflowGroupPermission",
    "WorkflowUserPermission",
    "WorkflowVersion",
    "Workspace",
    "WorkspaceMove",
]
