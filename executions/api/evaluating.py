"""Evaluate one template on data of the caller, as a worker would: for previews while one writes."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import payloads
from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json, JsonObject, Text
from executions.api.workflows import workflows
from executions.definition.templates import (
    WEB,
    RenderBudget,
    TemplateError,
    TemplateSyntaxProblems,
    compile_template,
)
from executions.definition.templating import render_guard
from executions.definition.templating.errors import quoted
from executions.errors import ValkyrError

MAX_TEMPLATE = 16_384  # characters
MAX_RESULT = 16_384  # bytes of JSON that are returned in full
SHOWN = 2_000  # characters of a longer result
SECRETS = "Credentials are read only while a step runs, so there is no preview of them."


class Evaluation(Body):
    """The body of `evaluateTemplate`."""

    template = Text(
        max_length=MAX_TEMPLATE, help_text="A text with expressions: `{{ input.total * 2 }}`."
    )
    scope = JsonObject(
        required=False,
        default=dict,
        help_text="What its expressions name, such as `input`, `vars` and `tasks`.",
    )


class Evaluated(CamelCaseSerializer):
    """The result of a template, or why there is none."""

    value = Json(allow_null=True, help_text="With the type that a step would get.")
    truncated = serializers.BooleanField(
        help_text="The value is longer than 16 KiB as JSON: `value` is the beginning of that text."
    )
    error = serializers.CharField(
        allow_null=True, help_text="Why the template has no value for this data; null if it has."
    )


class EvaluateTemplate(Endpoint):
    """Evaluate a template."""

    @operation(
        "evaluateTemplate", "Workflow", {200: Evaluated}, request=Evaluation, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return a template's value for the given data, by the rules and limits of web requests.

        Nothing is stored, and only the request is read.
        """
        obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        given = self.body(Evaluation)
        return Response(Evaluated(evaluated(given["template"], given["scope"])).data)


def evaluated(text: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value`, `truncated` and `error` of a template for this scope."""
    try:
        template = compile_template(text)
        if template.secrets:
            return _told(error=SECRETS)
        with render_guard.allowed():  # of one text, within the limits of a web process
            value = template.render(scope, RenderBudget(profile=WEB))
        dumped = payloads.dump(value)
    except (TemplateError, TemplateSyntaxProblems) as error:
        return _told(error=str(error).replace(f'template "{quoted(text)}": ', ""))
    except ValkyrError as error:
        return _told(error=error.message)
    if len(dumped) > MAX_RESULT:
        shown = value if isinstance(value, str) else dumped
        return _told(value=shown[:SHOWN], truncated=True)
    return _told(value=value)


def _told(*, value: Any = None, truncated: bool = False, error: str | None = None) -> Any:
    return {"value": value, "truncated": truncated, "error": error}
