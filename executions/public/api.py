"""Build endpoints that look and answer as the engine's own do."""

from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Flag, Id, Json, Text, Whole
from executions.api.paging import ListQuery, narrowed, page
from executions.api.parsing import JsonText
from executions.api.workflow_exchange import ImportQuery, kept
from executions.api.workflow_shapes import ValidationItem, WorkflowShape

__all__ = [
    "Body",
    "CamelCase",
    "CamelCaseSerializer",
    "Endpoint",
    "Flag",
    "Id",
    "ImportQuery",
    "Json",
    "JsonText",
    "ListQuery",
    "Text",
    "ValidationItem",
    "Whole",
    "WorkflowShape",
    "kept",
    "narrowed",
    "operation",
    "page",
]
