"""Build the request of `http.request` from its inputs, and the outputs from the response."""

import hashlib
import time
from collections.abc import Iterator
from typing import Any

import httpx

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.network import request_parts
from valkyr_plugins.connectors.network.exchange import Call, opened, send
from valkyr_plugins.connectors.network.http_request import HttpRequestInputs
from valkyr_plugins.connectors.network.request_parts import written_whole
from valkyr_plugins.connectors.network.response import ResponseTooLarge, request_name, unpacked


def http_exchange(inputs: HttpRequestInputs, ctx: StepContext) -> dict[str, Any]:
    """Send the request and return `HttpRequestOutputs` as a mapping. Raises StepError."""
    started = time.monotonic()
    call = _call(inputs, ctx)
    if inputs.store:
        outputs = _stored(call, ctx)
    else:
        outputs = _kept(call, ctx, inputs) if inputs.save_to is not None else _told(call, ctx)
    return outputs | {"durationMs": round((time.monotonic() - started) * 1000, 1)}


def _told(call: Call, ctx: StepContext) -> dict[str, Any]:
    answer = send(call, ctx)
    value, encoding = answer.parsed
    return {
        "status": answer.status,
        "headers": answer.headers,
        "body": value,
        "bodyEncoding": encoding,
        "file": None,
        "url": answer.url,
    }


def _kept(call: Call, ctx: StepContext, inputs: HttpRequestInputs) -> dict[str, Any]:
    """Stream the body into a file, piece by piece; return the outputs. Raises StepError."""
    path, digest, size = inputs.save_to or "", hashlib.sha256(), 0
    with opened(call, ctx) as response, written_whole(path) as file:
        for piece in _pieces(call, response):
            digest.update(piece)
            size += file.write(piece)
    file_facts = {"path": path, "bytes": size, "sha256": digest.hexdigest()}
    return _answer(response, None, "file", file_facts)


def _stored(call: Call, ctx: StepContext) -> dict[str, Any]:
    """Stream the body into the payload store; return the outputs. Raises StepError."""
    with opened(call, ctx) as response:
        media_type = response.headers.get("content-type", "")
        body = ctx.store_content(_pieces(call, response), media_type=media_type)
    return _answer(response, body, "stored")


def _pieces(call: Call, response: httpx.Response) -> Iterator[bytes]:
    try:
        yield from unpacked(response, call.max_bytes)
    except ResponseTooLarge:
        raise StepError(
            f"{request_name(response.request)} responded with more than {call.max_bytes} "
            "bytes: raise maxBytes"
        ) from None


def _answer(
    response: httpx.Response, body: Any, encoding: str, file: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "status": response.status_code,
        "headers": dict(response.headers),
        "body": body,
        "bodyEncoding": encoding,
        "file": file,
        "url": str(response.url.copy_with(userinfo=b"")),
    }


def _call(inputs: HttpRequestInputs, ctx: StepContext) -> Call:
    body, content_type = _body(inputs, ctx)
    headers = dict(inputs.headers)
    if content_type and not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = content_type
    return Call(
        inputs.method,
        inputs.url,
        headers=headers,
        query=inputs.query,
        content=body,
        timeout_seconds=inputs.timeout_seconds,
        accept_status=tuple(inputs.accept_status),
        follow_redirects=inputs.follow_redirects,
        max_bytes=inputs.max_bytes,
        digest=inputs.authentication == "digest",
    )


def _body(inputs: HttpRequestInputs, ctx: StepContext) -> tuple[dict[str, Any], str]:
    """Return httpx's arguments for the body, and its media type ("" if this step sets none)."""
    if inputs.body is not None:
        return request_parts.text_content(inputs.body), ""
    if inputs.body_base64 is not None:
        return request_parts.bytes_content(inputs.body_base64), ""
    if inputs.form is not None:
        return request_parts.form_content(inputs.form), ""
    if inputs.multipart is not None:
        # The idempotency key is secret before the request, so the content cannot contain it. A
        # retry sends the same bytes.
        boundary = ctx.idempotency_key[:32]
        return request_parts.parts_content(
            inputs.multipart
        ), f"multipart/form-data; boundary={boundary}"
    if "json_body" in inputs.model_fields_set:
        return request_parts.json_content(inputs.json_body), "application/json"
    return {}, ""
