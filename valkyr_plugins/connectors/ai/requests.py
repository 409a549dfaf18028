"""Requests to a provider: chat completions, streamed or not, and embeddings.

Servers that call themselves OpenAI-compatible may reject some keys. A request that is rejected
(400 or 422) for an unsupported key costs nothing, so it is rewritten and sent again, at most four
times.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import openai

# The client would load these modules on first use, which is during the first step.
import openai.resources.chat
import openai.resources.embeddings

from runners.public.modules import ErrorType, StepContext, StepError
from valkyr_plugins.connectors.ai import costs
from valkyr_plugins.connectors.ai.answers import (
    ShownProgress,
    StreamedAnswer,
    Usage,
    Vectors,
    read_chunk,
    read_vectors,
)
from valkyr_plugins.connectors.ai.conversation import used
from valkyr_plugins.connectors.ai.costs import price_table
from valkyr_plugins.connectors.ai.embed import EmbedInputs
from valkyr_plugins.connectors.ai.failures import host_of, said, told
from valkyr_plugins.connectors.ai.provider import ProviderInputs, client, headers, seconds_for

if TYPE_CHECKING:
    import httpx


Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestChange:
    """A key of a request, and the function that rewrites a request whose server rejects the key."""

    key: str
    otherwise: Callable[[Body], Body]


def _without(key: str) -> Callable[[Body], Body]:
    return lambda body: {name: value for name, value in body.items() if name != key}


def _newer_limit(body: Body) -> Body:
    """Return the request with the newer name of the token limit, for reasoning models."""
    return {**_without("max_tokens")(body), "max_completion_tokens": body["max_tokens"]}


def _plain_object(body: Body) -> Body:
    """Return the request with JSON mode in place of a schema, or without `response_format`."""
    if body["response_format"].get("type") == "json_schema":
        return {**body, "response_format": {"type": "json_object"}}
    return _without("response_format")(body)


CHANGES = (
    RequestChange("max_tokens", _newer_limit),
    RequestChange("stream_options", _without("stream_options")),
    RequestChange("response_format", _plain_object),
)
# The first request and four changed requests: `response_format` can change twice.
MOST_REQUESTS = 5
REFUSALS = (
    "unsupported", "not support", "unknown", "unrecognized", "not permitted", "unavailable",
)  # fmt: skip


def put_otherwise(body: Body, refusal: str) -> tuple[Body, str] | None:
    """Return the rewritten request and the changed key; None if the error rejects no known key."""
    text = refusal.lower()
    if not any(word in text for word in REFUSALS):
        return None
    for change in CHANGES:
        if change.key in body and change.key in text:
            return change.otherwise(body), change.key
    return None


# Send one request for a chat completion, streamed or not, and return the whole answer.
#
# Its costs are always reported: with the provider's count of tokens or, if the answer ended before
# the count arrived, with an estimate.


def ask(inputs: ProviderInputs, body: Body, ctx: StepContext, *, nth: int = 0) -> StreamedAnswer:
    """Send `body`, and return the whole answer. Raises StepError.

    `nth` counts the step's requests, which have different idempotency keys.
    """
    price_table()  # reports an invalid price list before anything is spent
    seconds = seconds_for(inputs, ctx)
    provider = client(inputs, ctx)
    host = host_of(provider.base_url)
    answer, progress = StreamedAnswer(), ShownProgress(ctx)
    try:
        for piece in _pieces(provider, body, nth, ctx):
            _take(piece, answer, progress, host, ctx)
        _require_end(answer, f"{inputs.model} at {host}")
    except StepError:
        raise
    except Exception as error:
        raise told(error, inputs, host, seconds) from error
    finally:
        progress.finish()
        _spend(inputs.model, body, answer, ctx)
    return answer


def _take(
    piece: Any, answer: StreamedAnswer, progress: ShownProgress, host: str, ctx: StepContext
) -> None:
    before = answer.characters
    text = answer.add(read_chunk(piece, host))
    progress.add(text, answer.characters - before - len(text))
    if ctx.cancelled():
        raise StepError("the execution was stopped while the model answered")


def usage_of(body: Body, answer: StreamedAnswer) -> tuple[Usage, bool]:
    """Return the tokens of an answer, and whether they are an estimate."""
    if answer.usage is not None:
        return answer.usage, False
    return costs.estimated(costs.sent_characters(body), answer.characters), True


def _spend(model: str, body: Body, answer: StreamedAnswer, ctx: StepContext) -> None:
    if not answer.began:
        return
    usage, guessed = usage_of(body, answer)
    if guessed:
        ctx.log.warning("the provider did not count the tokens: they are estimated by characters")
    costs.record(model, usage, ctx)


def _pieces(provider: openai.OpenAI, body: Body, nth: int, ctx: StepContext) -> Iterator[Any]:
    """Yield the pieces of the answer as JSON; rewrite rejected requests. Raises StepError."""
    create: Any = provider.chat.completions.create
    whole: Any = provider.chat.completions.with_raw_response.create
    for changes in range(MOST_REQUESTS):
        send = create if body.get("stream") else whole
        try:
            answered = send(**body, extra_headers=headers(provider, ctx, nth, changes))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            changed = put_otherwise(body, said(error))
            if changed is None:
                raise
            body, name = changed
            ctx.log.info(
                "the server does not support a key of the request: sent again without it",
                key=name,
                said=said(error),
            )
            continue
        yield from _streamed(answered) if body.get("stream") else [whole_answer(answered)]
        return
    raise StepError(
        "the server rejects every form of the request: check that it supports OpenAI's API"
    )


def _streamed(stream: Any) -> Iterator[Any]:
    media_type = _media_type(stream.response)
    with stream:
        if media_type == "application/json":
            # The server does not stream, although the request asks for a stream.
            yield json.loads(stream.response.read())
            return
        _require(media_type, "text/event-stream", stream.response)
        for chunk in stream:
            yield chunk.to_dict(warnings=False) if hasattr(chunk, "to_dict") else chunk


def whole_answer(answered: Any) -> Any:
    """Return a whole answer, parsed from JSON. Raises StepError if its media type is not JSON."""
    response: httpx.Response = answered.http_response
    _require(_media_type(response), "application/json", response)
    return json.loads(response.content)


def _media_type(response: "httpx.Response") -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _require(found: str, wanted: str, response: "httpx.Response") -> None:
    if found != wanted:
        raise StepError(
            f"{host_of(response.request.url)} answered with {found[:100] or 'no type'!r} "
            f"instead of {wanted}: check that baseUrl is an OpenAI-compatible endpoint, "
            "including /v1"
        )


def _require_end(answer: StreamedAnswer, who: str) -> None:
    if answer.finish_reason == "content_filter":
        raise StepError(
            f"{who} stopped its answer because of its content filter: change the request"
        )
    if not answer.finish_reason:
        raise StepError(f"{who} ended its answer early", ErrorType.TRANSIENT)


# Send the requests of `llm.embed`, one batch after another, and report the costs of each.


# A number of 7 digits takes about 12 characters. A step may return 5 MiB of JSON.
MAX_NUMBERS = 400_000
# The significant digits of single precision, with which models calculate.
DIGITS = 7


def embed(inputs: EmbedInputs, ctx: StepContext) -> dict[str, Any]:
    """Embed the texts and return `EmbedOutputs` as a mapping. Raises StepError."""
    price_table()
    vectors: list[list[float]] = []
    usages: list[tuple[Usage, bool]] = []
    model = ""
    for nth, texts in enumerate(inputs.batches()):
        found, usage = _batch(inputs, texts, nth, ctx)
        usages.append(usage)
        vectors += [_rounded(vector.embedding) for vector in found.data]
        model = found.model or model
        _require_room(vectors, len(inputs.texts))
        ctx.heartbeat({"texts": len(vectors), "of": len(inputs.texts)})
        if ctx.cancelled():
            raise StepError("the execution was stopped between two requests")
    return {
        "vectors": vectors,
        "dimensions": len(vectors[0]),
        "model": model,
        "usage": used(usages),
    }


def _batch(
    inputs: EmbedInputs, texts: list[str], nth: int, ctx: StepContext
) -> tuple[Vectors, tuple[Usage, bool]]:
    seconds = seconds_for(inputs, ctx)
    provider = client(inputs, ctx)
    host = host_of(provider.base_url)
    body: dict[str, Any] = {"model": inputs.model, "input": texts, "encoding_format": "float"}
    if inputs.dimensions is not None:
        body["dimensions"] = inputs.dimensions
    create: Any = provider.embeddings.with_raw_response.create
    try:
        found = read_vectors(
            whole_answer(create(**body, extra_headers=headers(provider, ctx, nth))), host
        )
    except StepError:
        raise
    except Exception as error:
        raise told(error, inputs, host, seconds) from error
    usage = found.usage or costs.estimated(sum(map(len, texts)), 0)
    costs.record(inputs.model, usage, ctx)
    _require_fit(found, len(texts), host)
    return found, (usage, found.usage is None)


def _require_fit(found: Vectors, texts: int, host: str) -> None:
    found.data.sort(key=lambda vector: vector.index)
    if [vector.index for vector in found.data] != list(range(texts)):
        raise StepError(f"{host} answered with {len(found.data)} vectors for {texts} texts")
    lengths = {len(vector.embedding) for vector in found.data}
    if len(lengths) > 1:
        raise StepError(f"{host} answered with vectors of different lengths: {sorted(lengths)}")
    if not all(math.isfinite(number) for vector in found.data for number in vector.embedding):
        raise StepError(f"{host} responded with invalid numbers (NaN or infinite)")


def _rounded(vector: list[float]) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in vector]


def _require_room(vectors: list[list[float]], texts: int) -> None:
    """Raise StepError if the vectors of all texts would exceed the limit, or if lengths differ.

    The caller checks after each batch, so that a step that must fail pays for no further batch.
    """
    if len(vectors[0]) != len(vectors[-1]):
        raise StepError(
            f"the server returned vectors of {len(vectors[0]):,} and of {len(vectors[-1]):,} "
            "numbers: use a model whose vectors all have the same length"
        )
    numbers = len(vectors[0]) * texts
    if numbers > MAX_NUMBERS:
        raise StepError(
            f"{texts} vectors of {len(vectors[0]):,} numbers are more than a step can yield "
            f"({MAX_NUMBERS:,} numbers): ask for fewer dimensions, or embed "
            f"{max(1, MAX_NUMBERS // len(vectors[0]))} texts a step, in a flow.map"
        )
