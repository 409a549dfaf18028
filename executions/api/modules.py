"""Data for authors: module types, the definition's schema, and workflow templates."""

from typing import get_args

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.admission.rates import Rate
from executions.api import etags, throttles
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json
from executions.api.sign_in import OpenEndpoint
from executions.definition.catalog import Take, catalog
from executions.definition.graph.schema import WORKFLOW_SCHEMA
from executions.publishing.samples import samples

IF_NONE_MATCH = header("If-None-Match", "The ETag of your copy; 304 if it is current.")
TAKES = [(name, name) for name in get_args(Take)]
CONTAINERS = [("", "none"), ("loop", "loop"), ("map", "map")]
# Seconds for which a client may cache the modules.
FRESH = 300


class BadInputShape(CamelCaseSerializer):
    """A kind of bad input: a description, the type of its error, and part of the error message."""

    what = serializers.CharField()
    error_type = serializers.ChoiceField(["TRANSIENT", "PERMANENT", "TIMEOUT"])
    says = serializers.CharField(help_text="A part of the failure's message.")


class OutcomeRuleShape(CamelCaseSerializer):
    """A rule by which a key of `with` adds outcomes to a module."""

    key = serializers.CharField()
    take = serializers.ChoiceField(
        TAKES,
        help_text=(
            "The outcomes that the key adds. each: every item of the key's list, or every value "
            "of its mapping, as text. value: the key's value, or `otherwise` without one. given: "
            "`outcomes`, if the key exists and is not null. equals: `outcomes`, if the key's "
            "value is `equals`."
        ),
    )
    outcomes = serializers.ListField(child=serializers.CharField())
    equals = serializers.CharField(allow_blank=True)
    otherwise = serializers.CharField(allow_blank=True)


class ModuleType(CamelCaseSerializer):
    """A module that a definition can name in `use`."""

    type = serializers.CharField()
    title = serializers.CharField()
    category = serializers.CharField()
    description = serializers.CharField()
    queue = serializers.CharField()
    inline = serializers.BooleanField(
        help_text=("Pure and fast: recorded together with other steps.")
    )
    effect = serializers.ChoiceField(["none", "idempotent", "database", "external"])
    outcomes = serializers.ListField(child=serializers.CharField())
    outcomes_from = OutcomeRuleShape(
        many=True,
        help_text=(
            "Rules that replace `outcomes`, if there are any. The outcomes are those of all "
            "rules, in order and without duplicates; without any, the outcome is `success`."
        ),
    )
    container = serializers.ChoiceField(
        CONTAINERS, help_text=("The kind of body that it runs, if any.")
    )
    waits = serializers.BooleanField(help_text="Whether the step can wait without a worker.")
    deferred = serializers.ListField(
        child=serializers.CharField(),
        help_text=(
            "The keys of `with` that are rendered later, in another scope, such as a loop's "
            "`until`."
        ),
    )
    icon = serializers.CharField(help_text="The icon's name in Material Symbols.")
    writes_variables = serializers.BooleanField()
    retry = serializers.CharField(source="retry_name")
    timeout_seconds = serializers.FloatField()
    credential = serializers.ListField(
        child=serializers.CharField(), help_text="The types of credential that it accepts."
    )
    takes_secrets = serializers.BooleanField(help_text="Whether its `with` may contain secrets.")
    circuit_target = serializers.CharField(
        help_text="A description of its circuit breaker's target; empty if it has none."
    )
    example = Json(help_text="A valid `with`.")
    bad_inputs = BadInputShape(
        many=True, help_text=("Inputs that fail, with the class of the failure.")
    )
    inputs_schema = Json()
    outputs_schema = Json(allow_null=True)


class ModuleTypeQuery(Body):
    """The query parameters of `listModuleTypes`."""

    types = serializers.CharField(
        required=False,
        max_length=4_000,
        help_text="Only these types, separated by commas; unknown types are left out.",
    )

    def validate_types(self, text: str) -> frozenset[str]:
        """Return the module types in a comma-separated text."""
        return frozenset(word.strip() for word in text.split(","))


class ModuleTypes(Endpoint):
    """The endpoint that lists module types."""

    @operation(
        "listModuleTypes",
        "ModuleType",
        {200: ModuleType(many=True), 304: None},
        parameters=[ModuleTypeQuery, IF_NONE_MATCH],
    )
    def get(self, request: Request) -> Response:
        """List the installed modules, sorted by type, each with the JSON Schema of its `with`."""
        only = self.query(ModuleTypeQuery).get("types")
        found = (spec for spec in catalog().values() if only is None or spec.type in only)
        specs = sorted(found, key=lambda spec: spec.type)
        told = ModuleType(specs, many=True).data
        return etags.unless_known(request, told, fresh=FRESH)


class WorkflowSchema(OpenEndpoint):
    """The public endpoint of the definitions' JSON Schema, which editors read without a sign-in."""

    def rates(self) -> list[Rate]:
        """Return the rate limit of public requests by address."""
        return [throttles.of_visitor(self.request)]

    @operation(
        "getWorkflowSchema",
        "ModuleType",
        {200: OpenApiTypes.OBJECT, 304: None},
        parameters=[IF_NONE_MATCH],
        public=True,
    )
    def get(self, request: Request) -> Response:
        """Return the JSON Schema (draft 2020-12) of a workflow definition; needs no sign-in."""
        return etags.unless_known(request, WORKFLOW_SCHEMA, fresh=FRESH)


class WorkflowTemplate(CamelCaseSerializer):
    """An example definition that comes with Valkyr."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(
        child=serializers.CharField(),
        help_text="The categories of its modules and the types of its triggers.",
    )
    definition = Json()


class WorkflowTemplates(Endpoint):
    """The endpoint that lists the workflow templates."""

    @operation(
        "listWorkflowTemplates",
        "Workflow",
        {200: WorkflowTemplate(many=True), 304: None},
        parameters=[IF_NONE_MATCH],
    )
    def get(self, request: Request) -> Response:
        """List the single-file examples that can be published here unchanged, sorted by name."""
        told = WorkflowTemplate(samples(), many=True).data
        return etags.unless_known(request, told, fresh=FRESH)
