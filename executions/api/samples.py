"""Workflows to begin with."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.api import etags
from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Json
from executions.api.modules import FRESH, IF_NONE_MATCH
from executions.publishing.samples import samples


class WorkflowTemplate(CamelCaseSerializer):
    """A definition that comes with Valkyr, to begin with."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(
        child=serializers.CharField(),
        help_text="The categories of its modules, the types of its triggers.",
    )
    definition = Json()


class WorkflowTemplates(Endpoint):
    """All templates."""

    @operation(
        "listWorkflowTemplates",
        "Workflow",
        {200: WorkflowTemplate(many=True), 304: None},
        parameters=[IF_NONE_MATCH],
    )
    def get(self, request: Request) -> Response:
        """The examples that can be published here as they are, by name."""
        told = WorkflowTemplate(samples(), many=True).data
        return etags.unless_known(request, told, fresh=FRESH)
