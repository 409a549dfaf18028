"""Send a GraphQL operation and evaluate the response (GraphQL over HTTP, draft of 2025).

Errors in the response are more specific than its status: servers respond 200 with errors, or 400
with errors in a body of type application/graphql-response+json.
"""

import time
from collections.abc import Mapping
from typing import Any

from runners.public.modules import ErrorType, StepContext, StepError, status_error_type
from valkyr_plugins.connectors.network.exchange import Answer, Call, send
from valkyr_plugins.connectors.network.graphql import GraphqlQueryInputs, kind_of
from valkyr_plugins.connectors.network.request_parts import json_content
from valkyr_plugins.connectors.network.response import refused, retry_after

ACCEPT = "application/graphql-response+json, application/json;q=0.9"
SHOWN_ERRORS = 10
SHOWN_CHARACTERS = 300
# Codes of temporary errors of servers of GitHub, Shopify, Apollo and Hasura.
PASSING_CODES = frozenset(
    {
        "RATE_LIMITED",
        "RATE_LIMIT",
        "THROTTLED",
        "TOO_MANY_REQUESTS",
        "INTERNAL_SERVER_ERROR",
        "SERVICE_UNAVAILABLE",
        "TIMEOUT",
        "GATEWAY_TIMEOUT",
        "MAX_COST_PER_SECOND_EXCEEDED",
    }
)


def graphql_exchange(inputs: GraphqlQueryInputs, ctx: StepContext) -> dict[str, Any]:
    """Run the operation and return `GraphqlQueryOutputs` as a mapping. Raises StepError."""
    started = time.monotonic()
    answer = send(_call(inputs), ctx)
    body = _response(answer)
    data, errors = body.get("data"), body.get("errors") or []
    if errors and (inputs.on_errors == "fail" or data is None):
        raise _failure(answer, errors)
    if answer.status >= 400:
        raise refused(answer.response, answer.body, answer.name)
    return {
        "data": data,
        "errors": errors,
        "extensions": body.get("extensions"),
        "durationMs": round((time.monotonic() - started) * 1000, 1),
    }


def _call(inputs: GraphqlQueryInputs) -> Call:
    body: dict[str, Any] = {"query": inputs.query, "variables": inputs.variables}
    if inputs.operation_name is not None:
        body["operationName"] = inputs.operation_name
    given = {name.lower() for name in inputs.headers}
    usual = {"accept": ACCEPT, "content-type": "application/json"}
    return Call(
        "POST",
        inputs.url,
        headers={
            **{name: value for name, value in usual.items() if name not in given},
            **inputs.headers,
        },
        content=json_content(body),
        timeout_seconds=inputs.timeout_seconds,
        accept_status=("4xx", "5xx"),
        max_bytes=inputs.max_bytes,
        keyed=kind_of(inputs.query, inputs.operation_name) == "mutation",
    )


def _response(answer: Answer) -> Mapping[str, Any]:
    """Return the body if it is a GraphQL response; otherwise raise StepError."""
    body, _ = answer.parsed
    if isinstance(body, dict) and isinstance(body.get("errors") or [], list):
        if "data" in body or body.get("errors"):
            return body
        if answer.status < 400:
            raise StepError(
                f"{answer.name} responded with neither data nor errors: check that it is a "
                "GraphQL endpoint"
            )
    if answer.status >= 400:
        raise refused(answer.response, answer.body, answer.name)
    kind = answer.headers.get("content-type", "no type")[:100]
    raise StepError(f"{answer.name} did not respond with GraphQL but with {kind}")


def _failure(answer: Answer, errors: list[Any]) -> StepError:
    told = [_told(error) for error in errors[:SHOWN_ERRORS]]
    more = f"; and {len(errors) - SHOWN_ERRORS} more" if len(errors) > SHOWN_ERRORS else ""
    sentences = "; ".join(_sentence(error) for error in told)
    passing = all(_is_passing(error) for error in errors) or (
        answer.status >= 400 and status_error_type(answer.status) is ErrorType.TRANSIENT
    )
    return StepError(
        f"{answer.name} responded with errors: {sentences}{more}",
        ErrorType.TRANSIENT if passing else ErrorType.PERMANENT,
        retry_after=retry_after(answer.response) if passing else None,
        details={"status": answer.status, "errors": told},
    )


def _told(error: Any) -> dict[str, str]:
    """Return an error's message, path and code, each as a short text."""
    if not isinstance(error, Mapping):
        return {"message": str(error)[:SHOWN_CHARACTERS], "path": "", "code": ""}
    path = error.get("path")
    return {
        "message": str(error.get("message", "no message"))[:SHOWN_CHARACTERS],
        "path": ".".join(map(str, path))[:SHOWN_CHARACTERS] if isinstance(path, list) else "",
        "code": _code(error)[:SHOWN_CHARACTERS],
    }


def _sentence(error: Mapping[str, str]) -> str:
    place = f" at {error['path']}" if error["path"] else ""
    code = f" ({error['code']})" if error["code"] else ""
    return f"{error['message']}{place}{code}"


def _is_passing(error: Any) -> bool:
    return isinstance(error, Mapping) and _code(error).upper() in PASSING_CODES


def _code(error: Mapping[str, Any]) -> str:
    """Return the error's code, from `extensions` (Apollo and most others) or `type` (GitHub)."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, Mapping) else None
    return str(code or error.get("type") or "")
