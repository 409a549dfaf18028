"""The OpenAPI document: descriptions common to all operations, its endpoint, and the API's pages.

drf-spectacular calls `complete` with the document it generated from the views. A project's
SPECTACULAR_SETTINGS do not apply, and the project's own document excludes Valkyr's views.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include
from django.urls import path as route
from django.utils.decorators import method_decorator
from django.views import View
from django.views.generic import TemplateView
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from executions import addresses
from executions.api.documentation import PROBLEM, REASONS
from executions.api.endpoint import Endpoint
from executions.api.page_headers import csrf_header, own_page
from executions.api.pinned import JsonRenderer
from executions.api.problems import problem, title
from executions.plugins import apps_with_api, plugins
from executions.vendor_seams.drf_spectacular_schema import own_settings

# Texts of the OpenAPI document: general rules, and a description of each tag.


INTRODUCTION = """\
Durable workflows on Django and Celery: write and publish workflows, start, monitor and operate
executions, and repair failures.

**Authentication.** `Authorization: Bearer …` with an API token (`createApiToken`) or with the
access token that `obtainToken` returns for a user name and a password; or the admin's session
cookie, with Django's CSRF token for changes.

**Errors** are `application/problem+json` (RFC 9457) with a stable `code`. If fields are not valid,
`errors` lists each mistake with its path.

**Lists** are arrays of `limit` rows (default 50, at most 500), newest first. The `Link` header
with `rel="next"` contains the address of the next page. Do not build a `cursor` yourself.

**Retries.** Operations with an `Idempotency-Key` take effect once per key. Drafts have an `ETag`.
If you send it back as `If-Match`, a change is rejected (412) when another user changed the draft
first.

**Limits** return 429 with `Retry-After`.
"""

TAGS = {
    "Token": "Access tokens for a user name and a password, and signing out.",
    "Session": "The caller's sign-in sessions.",
    "Me": "The caller's account and permissions.",
    "Bundle": "A workspace's definitions as one document, which is planned and applied whole.",
    "Workflow": "Definitions: an editable draft, and the immutable versions published from it.",
    "ModuleType": "The types of steps, and the JSON Schemas of definitions.",
    "WorkflowExecution": (
        "Start, monitor and operate executions, and return them to earlier points."
    ),
    "Queue": "Start an execution with the field names of the start queue.",
    "Run": "Attempts of steps, operations of remote runners, and approvals.",
    "DeadLetterQueue": "Steps that failed permanently, and their resolution.",
    "FailureGroup": "Groups of equal failures, with counts, times and status.",
    "Trigger": "Schedules, events, webhooks and queues that start workflows.",
    "Event": "External events; each event id takes effect once.",
    "Webhook": "Start a workflow from another system, with separate authentication.",
    "Callback": "Continue a waiting step through its callback address.",
    "Credential": "Secrets that steps use; they are never shown again.",
    "Workspace": "Tenants, with their limits and members.",
    "Tier": "The limits of workspaces.",
    "Membership": "The roles and permissions of users in workspaces.",
    "ServiceAccount": "Accounts for programs, each in one workspace.",
    "ApiToken": "Keys for programs, limited to one workspace and to scopes.",
    "Runner": "Worker processes and remote runners.",
    "Activity": "The audit trail: each change with its user, time, address and reason.",
    "Health": "Health checks, for load balancers; no sign-in is needed.",
}

SCHEMES = {
    "jwtAuth": {"description": "The `access` of `obtainToken`; it lasts 30 minutes."},
    "cookieAuth": {
        "description": (
            "The admin's session. Changes also need Django's CSRF token in `X-CSRFToken`."
        )
    },
}


Json = dict[str, Any]
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
EXAMPLES = Path(__file__).with_name("examples.json")
# The most common problem code for each status.
CODES = {
    400: "malformed_json",
    401: "not_authenticated",
    403: "forbidden",
    409: "wrong_state",
    412: "stale_revision",
    413: "body_too_large",
    422: "invalid",
    429: "throttled",
    503: "database_unavailable",
}


SETTINGS = {
    "TITLE": "Valkyr",
    "DESCRIPTION": "Durable workflows on Django and Celery.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "executions.api.openapi.complete",
    ],
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
}


def document() -> Json:
    """Return the OpenAPI document of the installed apps; paths are relative to its server's URL."""
    server = {"url": addresses.public("").rstrip("/"), "description": "This installation."}
    return _made() | {"servers": [server]}


@cache
def _made() -> Json:
    """Return the generated document, made once per process because it takes 0.5 s of CPU time."""
    names = {name: place for app in apps_with_api() for name, place in app.api_enums.items()}
    with own_settings(SETTINGS | {"ENUM_NAME_OVERRIDES": names}), GENERATOR_STATS.silence():
        generator: Any = SchemaGenerator  # without types
        made: Json = generator(patterns=api_patterns()).get_schema(public=True)
    return made


def api_patterns() -> list[URLPattern | URLResolver]:
    """Return the API routes of all apps and plugins, without a prefix."""
    return [route("", include(app.api)) for app in apps_with_api() if app.api]


def complete(result: Json, generator: Any, request: Any, public: bool) -> Json:
    """Add descriptions, tags, errors and examples to the generated document; shorten names."""
    result = _shorter_names(result)
    _close_bodies(result)
    result["info"]["description"] = INTRODUCTION
    result["servers"] = []  # set by `document`, because the address depends on the caller
    used = {tag for _, _, described in operations(result) for tag in described["tags"]}
    known = [*TAGS.items(), *(tag for plugin in plugins() for tag in plugin.api_tags.items())]
    result["tags"] = [{"name": name, "description": text} for name, text in known if name in used]
    components = result["components"]
    for name, more in SCHEMES.items():
        components["securitySchemes"].get(name, {}).update(more)
    components["examples"] = {_example_name(status): _problem(status) for status in REASONS}
    tagged = _schemas_with_etag(result)
    for path, method, described in operations(result):
        _complete_errors(path, method, described)
        described["summary"] = summary(described.get("description", ""))
        for status, answer in described["responses"].items():
            _complete_answer(described, method, int(status), answer, tagged)
        _add_examples(described)
    _name_problems(result)
    return result


def _name_problems(result: Json) -> None:
    """Move shared error responses into the components, and replace them with references."""
    shared: Json = {}
    for _, _, described in operations(result):
        answers = described["responses"]
        for status, answer in answers.items():
            known = answer["description"] == REASONS.get(int(status))
            if not known or set(answer.get("content", {})) != {PROBLEM}:
                continue
            name = title(int(status)).replace(" ", "")
            if shared.setdefault(name, answer) == answer:
                answers[status] = {"$ref": f"#/components/responses/{name}"}
    result["components"]["responses"] = dict(sorted(shared.items()))


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield each operation of a document as its path, method and description."""
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if method in METHODS:
                yield path, method, described


def summary(description: str) -> str:
    """Return a description up to `. `, `; `, `: ` or a blank line; at most 120 characters."""
    first = description.strip().partition("\n\n")[0].replace("\n", " ")
    for end in (". ", "; ", ": "):
        first = first.partition(end)[0]
    return first.rstrip(".")[:120]


def _shorter_names(result: Json) -> Json:
    """Return `_plainer(result)` without `Shape` in schema names, unless the short name is taken."""
    schemas = result["components"]["schemas"]
    names = {
        name: short
        for name in schemas
        if name.endswith("Shape") and (short := name.removesuffix("Shape")) not in schemas
    }
    text = json.dumps(_plainer(result), cls=JSONEncoder)  # descriptions may be lazy texts
    for name, short in names.items():
        text = text.replace(f'"#/components/schemas/{name}"', f'"#/components/schemas/{short}"')
    out: Json = json.loads(text)
    renamed = {names.get(name, name): schema for name, schema in schemas_of(out).items()}
    out["components"]["schemas"] = dict(sorted(renamed.items()))
    return out


def _plainer(part: Any) -> Any:
    """Return `part` without any `oneOf` that contains {}: null would match two of its schemas."""
    if isinstance(part, list):
        return [_plainer(item) for item in part]
    if not isinstance(part, dict):
        return part
    if {} in part.get("oneOf", ()):
        part = {key: value for key, value in part.items() if key != "oneOf"}
    return {key: _plainer(value) for key, value in part.items()}


def _close_bodies(result: Json) -> None:
    """Declare in the schemas of request bodies that unknown names are rejected."""
    schemas = schemas_of(result)
    bodies = [described.get("requestBody", {}) for _, _, described in operations(result)]
    waiting, known = _named(bodies), set()
    while waiting:
        name = waiting.pop()
        known.add(name)
        if "properties" in schemas[name]:
            schemas[name].setdefault("additionalProperties", False)
        waiting |= _named(schemas[name]) - known


def _named(part: Any) -> set[str]:
    """Return the names of the schemas that a part of the document refers to."""
    return set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(part)))


def schemas_of(document: Json) -> Json:
    """Return the document's schemas, keyed by name."""
    schemas: Json = document["components"]["schemas"]
    return schemas


def _complete_errors(path: str, method: str, described: Json) -> None:
    """Add the errors that an operation can return because of its path or method."""
    answers = described["responses"]
    follow = {404} if "{" in path else set()
    if method not in {"get", "head"} and described.get("security"):
        follow.add(403)
    for status in follow:
        content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        answers.setdefault(str(status), {"content": content, "description": REASONS[status]})
    described["responses"] = dict(sorted(answers.items()))


def _complete_answer(
    described: Json, method: str, status: int, answer: Json, tagged: set[str]
) -> None:
    headers = answer.setdefault("headers", {})
    answer["description"] = answer.get("description") or HTTPStatus(status).phrase
    names = {parameter["name"] for parameter in described.get("parameters", [])}
    if status == HTTPStatus.OK and method == "get" and "cursor" in names:
        headers["Link"] = _header('The next page: `<address>; rel="next"`. Not on the last page.')
    if status in {HTTPStatus.CREATED, HTTPStatus.ACCEPTED}:
        headers["Location"] = _header("The address of the created object, if it has one.")
    if status < HTTPStatus.BAD_REQUEST and _schema_of(answer) in tagged:
        headers["ETag"] = _header("The revision of the object; send it back as If-Match.")
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = _header("The accepted ways to sign in.")
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        headers["Retry-After"] = {
            "description": "Seconds to wait before the next attempt.",
            "schema": {"type": "integer", "minimum": 1},
        }
    if not headers:
        del answer["headers"]
    if PROBLEM in answer.get("content", {}):
        name = _example_name(status)
        answer["content"][PROBLEM]["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}


def _schemas_with_etag(result: Json) -> set[str]:
    """Return references to the response schemas of operations that accept If-Match."""
    return {
        schema
        for _, _, described in operations(result)
        if any(p["name"] == "If-Match" for p in described.get("parameters", []))
        for status, answer in described["responses"].items()
        if status.startswith("2") and (schema := _schema_of(answer))
    }


def _schema_of(answer: Json) -> str:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", ""))


def _header(description: str) -> Json:
    return {"description": description, "schema": {"type": "string"}}


def _example_name(status: int) -> str:
    return f"Problem{status}"


def _problem(status: int) -> Json:
    called = title(status)
    code = CODES.get(status) or called.lower().replace(" ", "_")
    value: Json = {
        "type": f"/{addresses.below_root('errors')}#{code}",
        "title": called,
        "status": status,
        "detail": REASONS[status],
        "code": code,
    }
    if status == HTTPStatus.CONFLICT:
        value["state"] = "CANCELLED"
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        message = "There is no such field here; there are: name, slug, description."
        value["detail"] = "Not valid: title."
        value["errors"] = [{"path": "title", "code": "unknown_field", "message": message}]
    return {"summary": called, "value": value}


@cache
def examples() -> Json:
    """Return recorded requests and responses, keyed by operationId; `make examples` writes them."""
    kept: Json = json.loads(EXAMPLES.read_text())
    return kept


def _add_examples(described: Json) -> None:
    kept = examples().get(described["operationId"], {})
    if "request" in kept:
        for media, content in described.get("requestBody", {}).get("content", {}).items():
            if media == kept.get("requestType", "application/json"):
                content["example"] = kept["request"]
    for status, example in kept.get("answers", {}).items():
        content = described["responses"].get(status, {}).get("content", {})
        media = kept.get("answerType", "application/json")
        if media in content:
            content[media]["example"] = example


# The page of the document has no inline scripts, and loads nothing from other servers.


@extend_schema(exclude=True)
class OpenApiDocument(Endpoint):
    """The endpoint that returns the API's description in OpenAPI 3.1."""

    renderer_classes: Any = [OpenApiJsonRenderer, OpenApiYamlRenderer, JsonRenderer]

    def get(self, request: Request) -> Response:
        """Return the OpenAPI document, for signed-in users."""
        name = f"Valkyr.{request.accepted_renderer.format}"
        headers = {"Content-Disposition": f'inline; filename="{name}"'}
        return Response(document(), headers=headers)


# The optional package with Swagger UI; without it, the page only links to the document.
VIEWER = "drf_spectacular_sidecar"
# Swagger UI sets style attributes, and contains its images as data URLs.
SWAGGER = {"style_src_attr": ("'unsafe-inline'",), "img_src": ("'self'", "data:")}


@method_decorator(own_page(**SWAGGER), "dispatch")
class Docs(View):
    """The page of the API reference, with a form for every operation if `VIEWER` is installed."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Return the page, or a 401 that asks an anonymous caller to sign in."""
        if request.user.is_authenticated:
            facts = {"viewer": apps.is_installed(VIEWER), "csrf_header": csrf_header()}
            return render(request, "executions/docs.html", facts)
        if request.accepts("text/html"):
            facts = {"sign_in": addresses.sign_in()}
            return render(request, "executions/docs_sign_in.html", facts, status=401)
        return problem(401, "Sign in to read the documentation.", code="not_authenticated")


@method_decorator(own_page(), "dispatch")
class ErrorReference(TemplateView):
    """The public page of all error codes with causes and remedies: docs/reference/errors.md."""

    template_name = "executions/errors.html"
