"""One request of a chat completion, from its body to the whole answer, streamed or not.

Whatever comes of it, what it spent is told: by the provider's count, or estimated where the answer
broke off before that came.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import openai

# The client loads these when first asked for, which would be in the time of the first step.
import openai.resources.chat
import openai.resources.embeddings

from runners.public.modules import ErrorType, StepContext, StepError
from valkyr_plugins.connectors.ai import dialects, spending
from valkyr_plugins.connectors.ai.answer import StreamedAnswer
from valkyr_plugins.connectors.ai.failures import host_of, said, told
from valkyr_plugins.connectors.ai.prices import price_table
from valkyr_plugins.connectors.ai.progress import ShownProgress
from valkyr_plugins.connectors.ai.provider import ProviderInputs, client, headers, seconds_for
from valkyr_plugins.connectors.ai.wire import Usage, read_chunk

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]


def ask(inputs: ProviderInputs, body: Body, ctx: StepContext, *, nth: int = 0) -> StreamedAnswer:
    """Send `body` and wait for the whole answer; raises StepError.

    `nth` counts the step's requests: each has an idempotency key of its own.
    """
    price_table()  # a bad price list is told before anything is spent
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
    """The answer's tokens, and whether they are but an estimate."""
    if answer.usage is not None:
        return answer.usage, False
    return spending.estimated(spending.sent_characters(body), answer.characters), True


def _spend(model: str, body: Body, answer: StreamedAnswer, ctx: StepContext) -> None:
    if not answer.began:
        return
    usage, guessed = usage_of(body, answer)
    if guessed:
        ctx.log.warning("the provider did not count the tokens: they are estimated by characters")
    spending.record(model, usage, ctx)


def _pieces(provider: openai.OpenAI, body: Body, nth: int, ctx: StepContext) -> Iterator[Any]:
    """The answer's pieces as JSON; what the server refuses to understand is put otherwise."""
    create: Any = provider.chat.completions.create
    whole: Any = provider.chat.completions.with_raw_response.create
    for changes in range(dialects.MOST_CHANGES):
        send = create if body.get("stream") else whole
        try:
            answered = send(**body, extra_headers=headers(provider, ctx, nth, changes))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            changed = dialects.put_otherwise(body, said(error))
            if changed is None:
                raise
            body, name = changed
            ctx.log.info(
                "the server does not know a key of the request: asked again without it",
                key=name,
                said=said(error),
            )
            continue
        yield from _streamed(answered) if body.get("stream") else [whole_answer(answered)]
        return
    raise StepError("the server refuses the request however it is put: does it speak OpenAI's API?")


def _streamed(stream: Any) -> Iterator[Any]:
    media_type = _media_type(stream.response)
    with stream:
        if media_type == "application/json":
            # It does not stream although asked to.
            yield json.loads(stream.response.read())
            return
        _require(media_type, "text/event-stream", stream.response)
        for chunk in stream:
            yield chunk.to_dict(warnings=False) if hasattr(chunk, "to_dict") else chunk


def whole_answer(answered: Any) -> Any:
    """The JSON of an answer that came in one piece; StepError where it is announced as no JSON."""
    response: httpx.Response = answered.http_response
    _require(_media_type(response), "application/json", response)
    return json.loads(response.content)


def _media_type(response: "httpx.Response") -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _require(found: str, wanted: str, response: "httpx.Response") -> None:
    if found != wanted:
        raise StepError(
            f"{host_of(response.request.url)} answered with {found[:100] or 'no type'!r} instead "
            f"of {wanted}: is baseUrl that of an OpenAI-compatible endpoint, with its /v1?"
        )


def _require_end(answer: StreamedAnswer, who: str) -> None:
    if answer.finish_reason == "content_filter":
        raise StepError(f"{who} cut its answer off by its content filter: change what is asked")
    if not answer.finish_reason:
        raise StepError(f"{who} ended its answer before its end", ErrorType.TRANSIENT)
