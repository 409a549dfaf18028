"""Classify a provider's errors as transient or permanent, and say what to do about them."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import openai

from runners.public.modules import (
    ErrorType,
    StepError,
    error_type_of,
    parse_retry_after,
    status_error_type,
)
from valkyr_plugins.connectors.ai.provider import ProviderInputs
from valkyr_plugins.connectors.network.transport import request_deadline

MAX_SAID = 500
# Marks in an error's code, type or message (OpenAI, Azure, DeepSeek, Zhipu, vLLM).
TOO_LONG = ("context_length", "context length", "context window", "prompt is too long")
FILTERED = (
    "content_filter", "content filter", "content_policy", "content management policy",
    "responsibleaipolicy", "data_inspection_failed", "sensitive",
)  # fmt: skip
NO_MONEY = ("insufficient_quota", "insufficient balance", "billing_hard_limit")

ADVICE = {
    402: "add credit to the account",
    403: "the key's owner may not use this model",
    404: "check model and baseUrl",
}


def told(error: Exception, inputs: ProviderInputs, host: str, seconds: float) -> StepError:
    """Convert a client's exception to a StepError; `seconds` is the time limit of the answer."""
    for cause in _causes(error):
        if isinstance(cause, StepError):  # Valkyr's own error, which the client has wrapped
            return StepError(cause.message, cause.error_type)
    who = f"{inputs.model} at {host}"
    if isinstance(error, openai.APIStatusError):
        return _refused(error, who)
    if _time_is_over(error):
        return StepError(
            f"{who} had not completed its answer after {seconds:.3g} s: raise timeoutSeconds "
            "(and the step's), or request less",
            ErrorType.TIMEOUT,
        )
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return StepError(
            f"{who} answered with text that is not valid JSON: {error}"[:MAX_SAID],
            ErrorType.TRANSIENT,
        )
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return _broken_off(error, who)
    # The client's message for a failed connection is not informative, but its cause is.
    cause = (error.__cause__ if isinstance(error, openai.APIConnectionError) else None) or error
    text = f"{who}: {type(cause).__name__}: {cause}"[:MAX_SAID].rstrip(": ")
    return StepError(text, error_type_of(cause))


def _time_is_over(error: Exception) -> bool:
    """Return whether the time limit of the step's requests was reached, not only a connection's."""
    timed_out = any(isinstance(cause, httpx.TimeoutException) for cause in _causes(error))
    return timed_out and time.monotonic() >= request_deadline.get()


def said(error: openai.APIError) -> str:
    """Return the provider's code and message, on one line."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = message if isinstance(message, str) else error.message
    # Some providers use numbers as error codes.
    code = body.get("code") if isinstance(body, dict) else error.code
    shown = f"{code}: {text}" if code else text
    return " ".join(shown.split())[:MAX_SAID]


def _refused(error: openai.APIStatusError, who: str) -> StepError:
    status, text = error.status_code, said(error)
    sentence, error_type = _meaning(status, text)
    return StepError(
        f"{who} {sentence}",
        error_type,
        retry_after=_retry_after(error.response.headers),
        details={"status": status, "said": text, "requestId": error.request_id},
    )


def _meaning(status: int, text: str) -> tuple[str, ErrorType]:
    if status == 401:
        # Omit the provider's message, because some messages contain a part of the key.
        return "rejected the key (401): check the step's credential", ErrorType.PERMANENT
    known = _known(text) if status < 500 else ""
    if known:
        return f"{known} ({status} {text})", ErrorType.PERMANENT
    if status in ADVICE:
        return f"answered {status} {text}: {ADVICE[status]}", ErrorType.PERMANENT
    if 300 <= status < 400:
        return (
            f"redirects to another address ({status}): set baseUrl to the new address"
        ), ErrorType.PERMANENT
    return f"answered {status} {text}", status_error_type(status)


def _known(text: str) -> str:
    lower = text.lower()
    if any(words in lower for words in NO_MONEY):
        return "has no credit left for this key: add credit to the account"
    if any(words in lower for words in TOO_LONG):
        return (
            "cannot take so long a text: shorten the messages, lower maxTokens, or choose a model "
            "with a larger context"
        )
    if any(words in lower for words in FILTERED):
        return "rejected the messages by its content filter: change the messages"
    return ""


def _broken_off(error: openai.APIError, who: str) -> StepError:
    """Return the StepError for an error that arrived as a piece of a stream."""
    text = said(error)
    known = _known(text)
    if known:
        return StepError(f"{who} {known} ({text})")
    return StepError(f"{who} interrupted its answer: {text}", ErrorType.TRANSIENT)


def _retry_after(headers: httpx.Headers) -> float | None:
    milliseconds = headers.get("retry-after-ms", "")
    if milliseconds.isascii() and milliseconds.isdigit():
        return float(milliseconds[:10]) / 1_000
    return parse_retry_after(headers.get("retry-after"), datetime.now(UTC))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def host_of(url: Any) -> str:
    """Return an endpoint's host, and its port if it is not the default."""
    parsed = httpx.URL(str(url))
    return parsed.host if parsed.port is None else f"{parsed.host}:{parsed.port}"
