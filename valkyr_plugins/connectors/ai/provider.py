"""A step's model, endpoint and time limit; and the client that calls the model.

The official client only handles the protocol: it does not retry, and ignores its own environment
variables. It connects only to addresses that HTTP steps may reach.
"""

import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from runners.public.modules import Module, ModuleInputs, StepContext, StepError, timeout_seconds
from valkyr_plugins.connectors.conf import settings

if TYPE_CHECKING:
    import httpx
    from openai import OpenAI


BASE_URL = "VALKYR_LLM_BASE_URL"
OPENAI = "https://api.openai.com/v1"
# Longer than the timeout of every model, so that an error of the model states the cause.
STEP_SECONDS = 320.0
HEADERS = {"User-Agent": "Valkyr", "Accept-Encoding": "identity"}


class ProviderInputs(ModuleInputs):
    """The model, the endpoint and the time limit."""

    model: str = Field(
        description="The provider's name for the model.",
        examples=["gpt-4o-mini", "deepseek-chat", "glm-4-plus"],
        pattern=r"^[!-~]+$",
        max_length=200,
    )
    base_url: str | None = Field(
        None,
        description=(
            "The base address of an endpoint that supports OpenAI's protocol; it usually ends in "
            f"`/v1`. By default, the address in `{BASE_URL}` or, without this setting, OpenAI's. "
            "The credential is sent to this address, so use only the address of the credential's "
            "provider."
        ),
        examples=["https://api.deepseek.com/v1"],
        max_length=2_000,
    )
    timeout_seconds: float | None = Field(
        None,
        gt=0,
        description=(
            "Maximum duration of one request and its answer, in seconds; at most the step's "
            "timeout. The default is the timeout in the model's circuit rule. If no rule sets a "
            "timeout, the default is 300 for deepseek-r1 and deepseek-reasoner, 180 for glm "
            "models, and 120 for others."
        ),
        examples=[60],
    )

    @field_validator("base_url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        return url if url is None else checked_url(url)


def checked_url(url: str) -> str:
    """Return an endpoint's URL without a trailing slash. Raises ValueError if it is invalid."""
    parts = urlsplit(url)
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    # `parts.port` raises ValueError if the port is not a number.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not plain:
        raise ValueError(
            "expected an address such as https://api.example.com/v1, without user, query or "
            "fragment; put a key into the step's credential"
        )
    return url.rstrip("/")


def address(inputs: ProviderInputs) -> str:
    """Return the step's base URL; by default the setting's, or OpenAI's. Raises StepError."""
    if inputs.base_url is not None:
        return inputs.base_url
    setting = settings().llm_base_url or OPENAI
    try:
        return checked_url(setting)
    except ValueError as error:
        raise StepError(f"{BASE_URL} is not the address of a provider: {error}") from error


def seconds_for(inputs: ProviderInputs, ctx: StepContext) -> float:
    """Return the time limit in seconds: the inputs', else the circuit rule's, else the model's.

    The limit is at most the step's remaining time minus a margin: 5 % of that time, or 0.2 s if
    that is less.
    """
    remaining = ctx.remaining()
    left = remaining - min(0.2, remaining * 0.05)
    usual = ctx.target_timeout or timeout_seconds(inputs.model)
    return min(left, inputs.timeout_seconds or usual)


def client(inputs: ProviderInputs, ctx: StepContext) -> "OpenAI":
    """Return a client for this step; its requests' time limit begins now. Raises StepError."""
    from openai import OpenAI

    from valkyr_plugins.connectors.network.transport import request_deadline

    key = _key(ctx)
    request_deadline.set(time.monotonic() + seconds_for(inputs, ctx))
    made = OpenAI(
        api_key=key,
        admin_api_key="",
        base_url=address(inputs),
        max_retries=0,
        http_client=_connections(os.getpid()),
        _enforce_credentials=False,
    )
    # These values come from the worker's environment, which does not belong to the workspace.
    made.organization = made.project = made.webhook_secret = None
    made._custom_headers = HEADERS
    return made


def headers(provider: "OpenAI", ctx: StepContext, nth: int, changes: int = 0) -> dict[str, Any]:
    """Return the headers of the step's `nth` request (from 0) after `changes` rewrites.

    Different requests have different idempotency keys; the next attempt sends the same keys.
    """
    from openai import Omit

    mark = f"-{nth}.{changes}" if changes else f"-{nth}" if nth else ""
    found: dict[str, Any] = {"Idempotency-Key": ctx.idempotency_key + mark}
    # A private server may not need a key.
    return found if provider.api_key else {**found, "Authorization": Omit()}


def _key(ctx: StepContext) -> str:
    if ctx.credential is None:
        return ""
    token = ctx.credential.get("token", "")
    if not (token and token.isascii() and token.isprintable()):
        raise StepError(
            "the credential's token is empty or not printable ASCII, so it cannot be sent in "
            "a header"
        )
    return token


@lru_cache(maxsize=1)
def _connections(pid: int) -> "httpx.Client":
    # One client per process, because a process must not use connections that its parent opened.
    import httpx

    from valkyr_plugins.connectors.ai.transport import BoundedTransport

    return httpx.Client(transport=BoundedTransport(), follow_redirects=False, trust_env=False)


# The parts that all steps with a language model share.


InputsT = TypeVar("InputsT", bound=ProviderInputs)


class LlmModule(Module[InputsT]):
    """The base class of modules that call a model, incur costs, and share the model's circuit."""

    category: ClassVar[str] = "language models"
    queue: ClassVar[str] = "io"
    effect: ClassVar[str] = "external"
    retry: ClassVar[str] = "llm"
    timeout_seconds: ClassVar[float] = STEP_SECONDS
    credential: ClassVar[tuple[str, ...]] = ("bearer",)
    judges_hosts: ClassVar[str] = "everything"
    addresses: ClassVar[tuple[str, ...]] = ("baseUrl",)
    costs: ClassVar[bool] = True
    circuit_target: ClassVar[str] = "`llm:` and the model"

    def circuit(self, inputs: InputsT) -> str | None:
        return f"llm:{inputs.model}"
