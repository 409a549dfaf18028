"""The URLs of this app's API, from workflows and executions to health and the OpenAPI document."""

from django.urls import URLPattern, path

from executions.api import (
    activity,
    api_tokens,
    bulk,
    bundles,
    credential_uses,
    credentials,
    evaluating,
    events,
    executions,
    health,
    hooks,
    labels,
    me,
    memberships,
    modules,
    openapi,
    permissions,
    reveal,
    service_accounts,
    sign_in,
    starting,
    test_runs,
    tiers,
    triggers,
    workflow_exchange,
    workflow_versions,
    workflows,
    workspaces,
)
from executions.api.sealing import WorkspaceSealing
from executions.api.tiers import WorkspaceUsage

# The addresses of workspaces, their members and programs, and their tokens.


ACCOUNT_PATTERNS: list[URLPattern] = [
    path("v1/Me", me.Me.as_view(), name="valkyr-me"),
    path("v1/ApiToken", api_tokens.ApiTokens.as_view(), name="valkyr-api-tokens"),
    path("v1/ApiToken/<uuid:id>", api_tokens.OneApiToken.as_view(), name="valkyr-api-token"),
    path(
        "v1/ServiceAccount",
        service_accounts.ServiceAccounts.as_view(),
        name="valkyr-service-accounts",
    ),
    path(
        "v1/ServiceAccount/<uuid:id>",
        service_accounts.OneServiceAccount.as_view(),
        name="valkyr-service-account",
    ),
    path("v1/Workspace", workspaces.Workspaces.as_view(), name="valkyr-workspaces"),
    path("v1/Workspace/<uuid:id>", workspaces.OneWorkspace.as_view(), name="valkyr-workspace"),
    path(
        "v1/Workspace/<uuid:id>/bundle",
        bundles.ExportBundle.as_view(),
        name="valkyr-workspace-bundle",
    ),
    path(
        "v1/Workspace/<uuid:id>/bundle/plan",
        bundles.PlanBundle.as_view(),
        name="valkyr-workspace-bundle-plan",
    ),
    path(
        "v1/Workspace/<uuid:id>/bundle/apply",
        bundles.ApplyBundle.as_view(),
        name="valkyr-workspace-bundle-apply",
    ),
    path("v1/Tier", tiers.Tiers.as_view(), name="valkyr-tiers"),
    path("v1/Tier/<uuid:id>", tiers.OneTier.as_view(), name="valkyr-tier"),
    path("v1/Membership", memberships.Memberships.as_view(), name="valkyr-memberships"),
    path("v1/Membership/<uuid:id>", memberships.OneMembership.as_view(), name="valkyr-membership"),
]


QUEUE = "api/v1/workflow/executions"
EXECUTION = "v1/WorkflowExecution/<uuid:id>"
WORKFLOW = "v1/Workflow/<uuid:id>"

urlpatterns: list[URLPattern] = [
    *ACCOUNT_PATTERNS,
    path("v1/auth/token", sign_in.ObtainToken.as_view(), name="valkyr-token"),
    path("v1/auth/token/refresh", sign_in.RefreshToken.as_view(), name="valkyr-token-refresh"),
    path("v1/auth/revoke", sign_in.RevokeToken.as_view(), name="valkyr-token-revoke"),
    path("v1/auth/sessions", me.Sessions.as_view(), name="valkyr-sessions"),
    path("v1/auth/sessions/<uuid:id>", me.OneSession.as_view(), name="valkyr-session"),
    path("v1/Workflow", workflows.Workflows.as_view(), name="valkyr-workflows"),
    path(
        "v1/Workflow/import",
        workflow_exchange.ImportWorkflow.as_view(),
        name="valkyr-workflow-import",
    ),
    path(
        "v1/Workflow/validate",
        workflow_versions.ValidateDefinition.as_view(),
        name="valkyr-definition-validate",
    ),
    path(WORKFLOW, workflows.OneWorkflow.as_view(), name="valkyr-workflow"),
    path(f"{WORKFLOW}/test", test_runs.StartTestRun.as_view(), name="valkyr-workflow-test"),
    path(
        f"{WORKFLOW}/validate",
        workflow_versions.ValidateWorkflow.as_view(),
        name="valkyr-workflow-validate",
    ),
    path(
        f"{WORKFLOW}/evaluate",
        evaluating.EvaluateTemplate.as_view(),
        name="valkyr-workflow-evaluate",
    ),
    path(
        f"{WORKFLOW}/next-times",
        evaluating.PreviewSchedule.as_view(),
        name="valkyr-workflow-next-times",
    ),
    path(
        f"{WORKFLOW}/publish",
        workflow_versions.PublishWorkflow.as_view(),
        name="valkyr-workflow-publish",
    ),
    path(
        f"{WORKFLOW}/take-over",
        workflows.TakeOverWorkflow.as_view(),
        name="valkyr-workflow-take-over",
    ),
    path(
        f"{WORKFLOW}/versions",
        workflow_versions.Versions.as_view(),
        name="valkyr-workflow-versions",
    ),
    path(
        f"{WORKFLOW}/versions/<int:n>",
        workflow_versions.OneVersion.as_view(),
        name="valkyr-workflow-version",
    ),
    path(
        f"{WORKFLOW}/export",
        workflow_exchange.ExportWorkflow.as_view(),
        name="valkyr-workflow-export",
    ),
    path(
        f"{WORKFLOW}/permissions",
        permissions.WorkflowPermissions.as_view(),
        name="valkyr-workflow-permissions",
    ),
    path(
        "v1/WorkflowTemplate", modules.WorkflowTemplates.as_view(), name="valkyr-workflow-templates"
    ),
    path("v1/WorkflowExecution", executions.Executions.as_view(), name="valkyr-executions"),
    path(
        "v1/WorkflowExecution/<uuid:workflowId>/execute",
        starting.Execute.as_view(),
        name="valkyr-workflow-execute",
    ),
    path(
        "v1/WorkflowExecution/<uuid:workflowId>/execute-batch",
        starting.ExecuteBatch.as_view(),
        name="valkyr-workflow-execute-batch",
    ),
    path(
        "v1/WorkflowExecution/labels",
        labels.ExecutionLabelCounts.as_view(),
        name="valkyr-execution-labels",
    ),
    path("v1/WorkflowExecution/cancel", bulk.CancelMany.as_view(), name="valkyr-executions-cancel"),
    path("v1/WorkflowExecution/pause", bulk.PauseMany.as_view(), name="valkyr-executions-pause"),
    path("v1/WorkflowExecution/resume", bulk.ResumeMany.as_view(), name="valkyr-executions-resume"),
    path(EXECUTION, executions.OneExecution.as_view(), name="valkyr-execution"),
    path(f"{EXECUTION}/cancel", executions.Cancel.as_view(), name="valkyr-execution-cancel"),
    path(f"{EXECUTION}/undo", executions.Undo.as_view(), name="valkyr-execution-undo"),
    path(f"{EXECUTION}/pause", executions.Pause.as_view(), name="valkyr-execution-pause"),
    path(f"{EXECUTION}/resume", executions.Resume.as_view(), name="valkyr-execution-resume"),
    path(f"{EXECUTION}/reveal", reveal.RevealExecution.as_view(), name="valkyr-execution-reveal"),
    path(f"{QUEUE}/start", starting.StartByQueue.as_view(), name="valkyr-queue-start"),
    path(f"{QUEUE}/queue/<uuid:queueId>", starting.QueueItem.as_view(), name="valkyr-queue-item"),
    path("v1/Credential", credentials.CredentialList.as_view(), name="valkyr-credentials"),
    path("v1/Credential/<uuid:id>", credentials.OneCredential.as_view(), name="valkyr-credential"),
    path(
        "v1/CredentialUse", credential_uses.CredentialUses.as_view(), name="valkyr-credential-uses"
    ),
    path(
        "v1/CredentialUse/export",
        credential_uses.ExportCredentialUses.as_view(),
        name="valkyr-credential-uses-export",
    ),
    path("v1/Workspace/<uuid:id>/sealing", WorkspaceSealing.as_view(), name="valkyr-sealing"),
    path("v1/Workspace/<uuid:id>/usage", WorkspaceUsage.as_view(), name="valkyr-workspace-usage"),
    path("v1/Trigger", triggers.Triggers.as_view(), name="valkyr-triggers"),
    path("v1/Trigger/<uuid:id>", triggers.OneTrigger.as_view(), name="valkyr-trigger"),
    path("v1/Trigger/<uuid:id>/secret", triggers.Secret.as_view(), name="valkyr-trigger-secret"),
    path(
        "v1/Trigger/<uuid:id>/rotate-secret",
        triggers.RotateSecret.as_view(),
        name="valkyr-trigger-rotate-secret",
    ),
    path("v1/hooks/<uuid:triggerId>", hooks.Hook.as_view(), name="valkyr-webhook"),
    path("v1/Activity", activity.Activities.as_view(), name="valkyr-activities"),
    path("v1/Activity/head", activity.NewestSeal.as_view(), name="valkyr-activity-head"),
    path("v1/Activity/export", activity.ExportActivity.as_view(), name="valkyr-activity-export"),
    path("v1/Activity/<uuid:id>", activity.OneActivity.as_view(), name="valkyr-activity"),
    path("v1/Event", events.Events.as_view(), name="valkyr-events"),
    path("v1/Event/<uuid:id>", events.OneEvent.as_view(), name="valkyr-event"),
    path("v1/ModuleType", modules.ModuleTypes.as_view(), name="valkyr-module-types"),
    path("v1/schema/workflow", modules.WorkflowSchema.as_view(), name="valkyr-workflow-schema"),
    path("v1/schema", openapi.OpenApiDocument.as_view(), name="valkyr-schema"),
    path("docs", openapi.Docs.as_view(), name="valkyr-docs"),
    path("docs/errors", openapi.ErrorReference.as_view(), name="valkyr-errors"),
    path("actuator/health", health.Overall.as_view(), name="valkyr-health"),
    path("actuator/health/live", health.Live.as_view(), name="valkyr-health-live"),
    path("actuator/health/ready", health.Ready.as_view(), name="valkyr-health-ready"),
]
