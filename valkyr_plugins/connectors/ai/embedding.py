"""The requests of `llm.embed`, batch after batch, each told as spent."""

import math
from typing import Any

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.ai import spending
from valkyr_plugins.connectors.ai.asked import used
from valkyr_plugins.connectors.ai.asking import whole_answer
from valkyr_plugins.connectors.ai.embed import EmbedInputs
from valkyr_plugins.connectors.ai.failures import host_of, told
from valkyr_plugins.connectors.ai.prices import price_table
from valkyr_plugins.connectors.ai.provider import client, headers, seconds_for
from valkyr_plugins.connectors.ai.wire import Usage, Vectors, read_vectors

# A number of seven digits takes some 12 characters, of the 5 MiB of JSON that a step may yield.
MAX_NUMBERS = 400_000
# What single precision holds, in which models calculate.
DIGITS = 7


def embed(inputs: EmbedInputs, ctx: StepContext) -> dict[str, Any]:
    """`EmbedOutputs` as a mapping; raises StepError."""
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
    usage = found.usage or spending.estimated(sum(map(len, texts)), 0)
    spending.record(inputs.model, usage, ctx)
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
        raise StepError(f"{host} answered with numbers that are none (NaN or infinite)")


def _rounded(vector: list[float]) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in vector]


def _require_room(vectors: list[list[float]], texts: int) -> None:
    """Said after the first batch already, before the others are paid for."""
    numbers = len(vectors[0]) * texts
    if numbers > MAX_NUMBERS or len(vectors[0]) != len(vectors[-1]):
        raise StepError(
            f"{texts} vectors of {len(vectors[0]):,} numbers are more than a step can yield "
            f"({MAX_NUMBERS:,} numbers): ask for fewer dimensions, or embed "
            f"{max(1, MAX_NUMBERS // len(vectors[0]))} texts a step, in a flow.map"
        )
