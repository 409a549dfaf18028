"""The cost of tokens, and the record of each request's cost.

An administrator maintains the table of prices, because prices change and contracts differ.
`VALKYR_LLM_PRICES` names a YAML or JSON file, or contains JSON: patterns of model names, each with
the prices of a million tokens. Valkyr includes no table, because it would become outdated.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from runners.public.modules import StepContext, StepError, matches, specificity
from valkyr_plugins.connectors.ai.answers import Usage
from valkyr_plugins.connectors.conf import settings

PRICES = "VALKYR_LLM_PRICES"
MILLION = Decimal(1_000_000)
MAX_FILE_BYTES = 1024 * 1024


class Price(BaseModel):
    """The prices of a million tokens, in `currency` (by default the installation's)."""

    model_config = ConfigDict(extra="forbid")

    input: Decimal = Field(ge=0, le=1_000_000)
    output: Decimal = Field(Decimal(0), ge=0, le=1_000_000)
    # The price of the input tokens that the provider had cached from an earlier request.
    cached: Decimal | None = Field(None, ge=0, le=1_000_000)
    currency: str = Field("", pattern="^([A-Z]{3})?$")


class _Table(RootModel[dict[str, Price]]):
    """Patterns of model names (`gpt-4o*`) and their prices."""


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of a request; `currency` is empty for the installation's currency."""

    amount: Decimal
    currency: str


def charge(model: str, usage: Usage) -> Charge | None:
    """Return the cost according to the most specific matching pattern; None if none matches.

    Raises StepError if the price table is invalid.
    """
    table = price_table()
    fitting = [pattern for pattern in table if matches(pattern, model)]
    if not fitting:
        return None
    price = table[max(fitting, key=specificity)]
    cached = price.input if price.cached is None else price.cached
    amount = (
        (usage.prompt_tokens - usage.cached) * price.input
        + usage.cached * cached
        + usage.completion_tokens * price.output
    ) / MILLION
    return Charge(amount, price.currency)


def price_table() -> dict[str, Price]:
    """Return the installation's prices. Raises StepError, which names the table's problem."""
    setting = settings().llm_prices
    if isinstance(setting, Mapping):
        setting = json.dumps(setting)
    if not setting or setting.startswith("{"):
        return _read(setting or "{}")
    path = Path(setting)
    try:
        found = path.stat()
    except OSError as error:
        raise StepError(
            f"{PRICES} names the file {setting}, which cannot be read: {error}"
        ) from error
    return _of_file(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _of_file(path: Path, changed: int, size: int) -> dict[str, Price]:
    """Return the price table in a file, cached until the file changes. Raises StepError."""
    if size > MAX_FILE_BYTES:
        raise StepError(f"{PRICES}: {path} has {size:,} bytes; expected at most {MAX_FILE_BYTES:,}")
    try:
        return _read(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StepError(f"{PRICES}: {path} cannot be read: {error}") from error


@lru_cache(maxsize=4)
def _read(text: str) -> dict[str, Price]:
    import yaml

    try:
        given: Any = yaml.safe_load(text)
        return _Table.model_validate({} if given is None else given).root
    except yaml.YAMLError as error:
        raise StepError(f"{PRICES} is neither YAML nor JSON: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise StepError(
            f"{PRICES}, at {'.'.join(map(str, first['loc'])) or 'its top'}: {first['msg']}; "
            'expected {"gpt-4o*": {"input": 2.5, "output": 10, "currency": "USD"}}, '
            "prices of a million tokens"
        ) from error


# Report to the engine what a request cost, even if it failed after it had used tokens.


# OpenAI's rule of thumb for English (help.openai.com, "What are tokens and how to count them?").
CHARACTERS_A_TOKEN = 4


def estimated(sent: int, received: int) -> Usage:
    """Estimate tokens from numbers of characters, for a provider that did not count the tokens."""
    return Usage(
        prompt_tokens=math.ceil(sent / CHARACTERS_A_TOKEN),
        completion_tokens=math.ceil(received / CHARACTERS_A_TOKEN),
    )


def sent_characters(body: Mapping[str, Any]) -> int:
    """Count the characters of a request, without images, which are priced by pixels."""
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
    """Record the tokens, and their cost if the price list has the model. Raises StepError."""
    price = charge(model, usage)
    if price is None:
        ctx.log.info(
            "the price list has no price for this model: only its tokens are counted",
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
