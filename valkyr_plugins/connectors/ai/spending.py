"""Tells the engine what a request has spent, also where it failed after tokens had come."""

import json
import math
from collections.abc import Mapping
from typing import Any

from runners.public.modules import StepContext
from valkyr_plugins.connectors.ai.prices import PRICES, charge
from valkyr_plugins.connectors.ai.wire import Usage

# OpenAI's rule of thumb for English (help.openai.com, "What are tokens and how to count them?").
CHARACTERS_A_TOKEN = 4


def estimated(sent: int, received: int) -> Usage:
    """Tokens by the numbers of characters, where the provider did not count them."""
    return Usage(
        prompt_tokens=math.ceil(sent / CHARACTERS_A_TOKEN),
        completion_tokens=math.ceil(received / CHARACTERS_A_TOKEN),
    )


def sent_characters(body: Mapping[str, Any]) -> int:
    """How much text a request holds; images are left out, whose price is by their pixels."""
    messages = [
        {**message, "content": _texts(message.get("content"))} for message in body["messages"]
    ]
    also = [body[key] for key in ("tools", "response_format") if key in body]
    return len(json.dumps([messages, also], ensure_ascii=False))


def _texts(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [part for part in content if part.get("type") == "text"]


def record(model: str, usage: Usage, ctx: StepContext) -> None:
    """Add the tokens, and what they cost if the price list knows the model."""
    price = charge(model, usage)
    if price is None:
        ctx.log.info(
            "the price list has no price for this model: its tokens are counted alone",
            model=model,
            setting=PRICES,
        )
        ctx.cost(
            model=model,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
        )
        return
    ctx.cost(
        model=model,
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        amount=price.amount,
        currency=price.currency,
    )
