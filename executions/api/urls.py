"""The addresses of workflows, executions, sign-in, health and the API's description."""

from django.urls import URLPattern, path

from executions.api import (
    docs,
    events,
    executions,
    health,
    history,
    hooks,
    modules,
    starting,
    tokens,
    triggers,
    workflow_exchange,
    workflow_versions,
    workflows,
)

QUEUE = "api/v1/workflow/executions"
EXECUTION = "v1/WorkflowExecution/<uuid:id>"
WORKFLOW = "v1/Workflow/<uuid:id>"

urlpatterns: list[URLPattern] = [
    path("v1/auth/token", tokens.ObtainToken.as_view()),
    path("v1/auth/token/refresh", tokens.RefreshToken.as_view()),
    path("v1/Workflow", workflows.Workflows.as_view()),
    path("v1/Workflow/import", workflow_exchange.ImportWorkflow.as_view()),
    path(WORKFLOW, workflows.OneWorkflow.as_view()),
    path(f"{WORKFLOW}/validate", workflow_versions.ValidateWorkflow.as_view()),
    path(f"{WORKFLOW}/publish", workflow_versions.PublishWorkflow.as_view()),
    path(f"{WORKFLOW}/versions", workflow_versions.Versions.as_view()),
    path(f"{WORKFLOW}/versions/<int:n>", workflow_versions.OneVersion.as_view()),
    path(f"{WORKFLOW}/export", workflow_exchange.ExportWorkflow.as_view()),
    path("v1/WorkflowExecution", executions.Executions.as_view()),
    path("v1/WorkflowExecution/<uuid:workflowId>/execute", starting.Execute.as_view()),
    path("v1/WorkflowExecution/<uuid:workflowId>/execute-batch", starting.ExecuteBatch.as_view()),
    path(EXECUTION, executions.OneExecution.as_view()),
    path(f"{EXECUTION}/cancel", executions.Cancel.as_view()),
    path(f"{EXECUTION}/pause", executions.Pause.as_view()),
    path(f"{EXECUTION}/resume", executions.Resume.as_view()),
    path(f"{EXECUTION}/checkpoints", history.Checkpoints.as_view()),
    path(f"{EXECUTION}/checkpoints/<uuid:checkpointId>", history.OneCheckpoint.as_view()),
    path(f"{QUEUE}/start", starting.StartByQueue.as_view()),
    path(f"{QUEUE}/queue/<uuid:queueId>", starting.QueueItem.as_view()),
    path("v1/Trigger", triggers.Triggers.as_view()),
    path("v1/Trigger/<uuid:id>", triggers.OneTrigger.as_view()),
    path("v1/Trigger/<uuid:id>/secret", triggers.Secret.as_view()),
    path("v1/Trigger/<uuid:id>/rotate-secret", triggers.RotateSecret.as_view()),
    path("v1/hooks/<uuid:triggerId>", hooks.Hook.as_view()),
    path("v1/Event", events.Events.as_view()),
    path("v1/Event/<uuid:id>", events.OneEvent.as_view()),
    path("v1/ModuleType", modules.ModuleTypes.as_view()),
    path("v1/schema/workflow", modules.WorkflowSchema.as_view()),
    path("v1/schema", docs.OpenApiDocument.as_view(), name="openapi"),
    path("docs", docs.Docs.as_view(), name="docs"),
    path("actuator/health", health.Overall.as_view()),
    path("actuator/health/live", health.Live.as_view()),
    path("actuator/health/ready", health.Ready.as_view()),
]
