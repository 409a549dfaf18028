"""Previews for an editor: the value of a template for given data, and a schedule's next times."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import payloads
from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json, JsonObject, Text
from executions.api.workflows import workflows
from executions.definition.catalog import catalog
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import resolve
from executions.definition.limits import limits
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
from executions.publishing import versioning
from executions.triggers.cron_schedule import rule, upcoming

MAX_TEMPLATE = 16_384  # characters
MAX_RESULT = 16_384  # bytes of JSON that are returned in full
NEXT_TIMES = 5
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
        help_text="The values that its expressions read, such as `input`, `vars` and `tasks`.",
    )


class Evaluated(CamelCaseSerializer):
    """The result of a template, or the reason why there is none."""

    value = Json(allow_null=True, help_text="The value, with the type that a step would receive.")
    truncated = serializers.BooleanField(
        help_text="The value is longer than 16 KiB as JSON: `value` is the beginning of that text."
    )
    error = serializers.CharField(
        allow_null=True, help_text="Why the template has no value for this data; null if it has."
    )


class EvaluateTemplate(Endpoint):
    """The endpoint that evaluates a template."""

    @operation(
        "evaluateTemplate", "Workflow", {200: Evaluated}, request=Evaluation, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return a template's value for given data, within web requests' time and size limits.

        Nothing is stored. The template reads only the data in the request.
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
        with render_guard.allowed():  # one text only, with the limits of a web process
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


def _told(
    *, value: Any = None, truncated: bool = False, error: str | None = None
) -> dict[str, Any]:
    return {"value": value, "truncated": truncated, "error": error}


class NewSchedule(Body):
    """The body of `previewSchedule`: a trigger of type CRON, as in a definition."""

    trigger = JsonObject(help_text="A trigger, as in a definition, with its `schedule`.")


class ScheduleTimes(CamelCaseSerializer):
    """The next times of a schedule, or the reason why there are none."""

    times = serializers.ListField(child=serializers.DateTimeField(), help_text="At most five.")
    error = serializers.CharField(allow_null=True, help_text="What is wrong with the trigger.")


class PreviewSchedule(Endpoint):
    """The endpoint that returns the next times of a schedule."""

    @operation(
        "previewSchedule", "Workflow", {200: ScheduleTimes}, request=NewSchedule, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return at most five fire times of a schedule, in the next 400 days. Nothing is stored."""
        obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        return Response(ScheduleTimes(times_of(self.body(NewSchedule)["trigger"])).data)


def times_of(trigger: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trigger's next fire `times`, and `error`: its first problem, or None if valid."""
    definition = {
        "schema": "valkyr/1",
        "name": "preview",
        "tasks": [{"id": "only", "use": "flow.noop"}],
        "triggers": [{**trigger, "type": "CRON"}],
    }
    found = versioning.check(definition)
    if found:
        return {"times": [], "error": found[0].message}
    resolved = resolve(normalise(definition), catalog(), limits())
    schedule = rule(resolved["triggers"][0]).schedule
    return {"times": upcoming(schedule, timezone.now(), NEXT_TIMES), "error": None}
