"""What every HTTP step says alike: where to, with which headers and query, and for how long."""

from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from runners.public.modules import ModuleInputs

MEBIBYTE = 1024 * 1024
MAX_URL = 8_192
Scalar = str | bool | int | float
# Who writes these by hand can say one thing to us and another to the server.
FORBIDDEN_HEADERS = frozenset({"content-length", "transfer-encoding", "connection", "upgrade"})
USUAL_PORTS = {"http": 80, "https": 443}


class AddressedInputs(ModuleInputs):
    """An address, and what goes with every request to it."""

    url: str = Field(
        description="Where to: http or https.",
        examples=["https://api.example.com/orders/{{ input.orderId }}"],
        max_length=MAX_URL,
    )
    headers: dict[str, str | int | float] = Field(
        default_factory=dict,
        description="Request headers.",
        examples=[{"Accept": "application/json"}],
    )
    timeout_seconds: float | None = Field(
        None,
        gt=0,
        description="For one whole exchange, redirects and body included; at most the step's.",
        examples=[10],
    )

    @field_validator("url")
    @classmethod
    def _url_is_http(cls, url: str) -> str:
        return http_url(url)

    @field_validator("headers")
    @classmethod
    def _headers_are_safe(cls, headers: dict[str, str | int | float]) -> Any:
        refused = sorted(name for name in headers if name.lower() in FORBIDDEN_HEADERS)
        if refused:
            raise ValueError(f"{', '.join(refused)} cannot be set: they follow from the request")
        return headers


class QueriedInputs(AddressedInputs):
    """An address with a query."""

    query: dict[str, Scalar | list[Scalar] | None] = Field(
        default_factory=dict,
        description="Added to the URL's query; null leaves a key out, a list repeats it.",
        examples=[{"page": 2, "tag": ["new", "paid"]}],
    )


def http_url(url: str) -> str:
    """The URL as it is; ValueError where it is not of http or https or names no host."""
    parts = urlsplit(url)
    # Reading the port raises ValueError where it is no number.
    if parts.port == 0 or parts.scheme.lower() not in USUAL_PORTS or not parts.hostname:
        raise ValueError("expected a URL that begins with http:// or https:// and names a host")
    return url


def target(url: str, word: str = "http.request") -> str:
    """The target of a circuit breaker: `word:host`, with the port where it is not the usual one.

    Steps of several types that call one host share its circuit: it is the host that rests.
    """
    parts = urlsplit(url)
    usual = parts.port in (None, USUAL_PORTS.get(parts.scheme.lower()))
    return f"{word}:{parts.hostname}" + ("" if usual else f":{parts.port}")
