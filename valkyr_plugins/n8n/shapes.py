"""What an import of n8n takes and answers."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.public.api import (
    CamelCaseSerializer,
    ImportQuery,
    Json,
    ValidationItem,
    WorkflowShape,
)
from valkyr_plugins.n8n.report import STATUSES


class N8nQuery(ImportQuery):
    """Where an imported workflow goes, or whether it goes nowhere."""

    dryRun = serializers.BooleanField(
        required=False, default=False, help_text="Answer with what would come, and keep nothing."
    )


class N8nBecame(CamelCaseSerializer):
    """What a node became."""

    task = serializers.CharField(
        allow_null=True, help_text="The id of the task, in whatever body; null for none."
    )
    module = serializers.CharField(help_text="Its module, or the trigger's type, or note.")


class N8nRow(CamelCaseSerializer):
    """A node of the export."""

    node = serializers.CharField(help_text="Its name.")
    nodeType = serializers.CharField()
    became = N8nBecame(allow_null=True)
    status = serializers.ChoiceField(
        [(name, name) for name in STATUSES],
        help_text="mapped: it does the same. changed: nearly, or something is still to be "
        "written. left: a placeholder keeps it, or nothing does.",
    )
    remarks = serializers.ListField(child=serializers.CharField())


class N8nCounts(CamelCaseSerializer):
    """How many nodes of each status."""

    mapped = serializers.IntegerField()
    changed = serializers.IntegerField()
    left = serializers.IntegerField()


class N8nCredential(CamelCaseSerializer):
    """A credential to create."""

    name = serializers.CharField()
    type = serializers.CharField()
    was = serializers.CharField(help_text="Its type and name in n8n; values are never imported.")
    nodes = serializers.ListField(child=serializers.CharField())


class N8nVariable(CamelCaseSerializer):
    """A variable that needs a value."""

    name = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class N8nWorkflow(CamelCaseSerializer):
    """Another workflow that is called."""

    slug = serializers.CharField()
    was = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class N8nToCreate(CamelCaseSerializer):
    """What somebody has to make before the workflow runs."""

    credentials = N8nCredential(many=True)
    variables = N8nVariable(many=True)
    workflows = N8nWorkflow(many=True)


class N8nReport(CamelCaseSerializer):
    """What became of each node, in the file's order."""

    rows = N8nRow(many=True)
    counts = N8nCounts()
    toCreate = N8nToCreate()
    remarks = serializers.ListField(child=serializers.CharField())


class N8nImported(CamelCaseSerializer):
    """The workflow and the report; with `dryRun` the definition in the workflow's place."""

    workflow = WorkflowShape(allow_null=True)
    definition = Json(allow_null=True, help_text="Only with dryRun.")
    report = N8nReport()
    problems = ValidationItem(
        many=True, help_text="What keeps it from being published: mostly what is left to be done."
    )
