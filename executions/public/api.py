"""Build endpoints that look and respond like the engine's own endpoints."""

from executions.admin.changelist import (
    BOUND,
    bounded_count,
)
from executions.api.bulk import (
    FREE_IDS,
    MAX_IDS,
)
from executions.api.documentation import (
    operation,
)
from executions.api.endpoint import (
    Endpoint,
)
from executions.api.executions import (
    WorkflowExecutionShape,
)
from executions.api.fields import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    Flag,
    Id,
    Json,
    JsonObject,
    Payload,
    Text,
    Whole,
    asked_user_id,
    shown_user_id,
    time_text,
)
from executions.api.paging import (
    ListQuery,
    PageQuery,
    narrowed,
    page,
)
from executions.api.parsing import (
    JsonText,
)
from executions.api.problems import (
    flat,
)
from executions.api.tiers import (
    WindowShape,
)
from executions.api.workflow_exchange import (
    ImportQuery,
    kept,
)
from executions.api.workflows import (
    ValidationItem,
    WorkflowShape,
)

__all__ = [
    "BOUND",
    "FREE_IDS",
    "MAX_IDS",
    "Body",
    "CamelCase",
    "CamelCaseSerializer",
    "Endpoint",
    "Flag",
    "Id",
    "ImportQuery",
    "Json",
    "JsonObject",
    "JsonText",
    "ListQuery",
    "PageQuery",
    "Payload",
    "Text",
    "ValidationItem",
    "Whole",
    "WindowShape",
    "WorkflowExecutionShape",
    "WorkflowShape",
    "asked_user_id",
    "bounded_count",
    "flat",
    "kept",
    "narrowed",
    "operation",
    "page",
    "shown_user_id",
    "time_text",
]
