"""Stripe's own client over our guarded connections: one try, the step's deadline, bounded answers.

The library writes the requests and knows the errors; retrying is the engine's business.
"""

import os
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx
import stripe

from runners.public.modules import StepContext, StepError, error_type_of
from valkyr_plugins.connectors.network.body import ACCEPT_ENCODING, ResponseTooLarge, read_body
from valkyr_plugins.connectors.network.transport import client, request_deadline
from valkyr_plugins.connectors.payments.address import api_base

MAX_ANSWER_BYTES = 5 * 1024 * 1024
ENDLESS = "Stripe's API answered with more than 5 MiB, which is no answer of its own"


class GuardedClient(stripe.HTTPClient):
    """What the library sends through: our transport, which checks addresses and deadlines."""

    name = "valkyr"

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        post_data: Any = None,
        **unused: Any,
    ) -> tuple[str, int, Mapping[str, str]]:
        """The body as text, the status and the headers; raises StepError."""
        try:
            request = client().build_request(
                method.upper(), url, headers=dict(headers or {}), content=post_data or None
            )
            request.headers["accept-encoding"] = ACCEPT_ENCODING
            response = client().send(request, stream=True)
            try:
                body = read_body(response, MAX_ANSWER_BYTES)
            finally:
                response.close()
        except ResponseTooLarge:
            raise StepError(ENDLESS) from None
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise StepError(f"{urlsplit(url).netloc}: {said}", error_type_of(error)) from error
        # httpx's headers find their names in any case, as the library presumes.
        return body.decode("utf-8", "replace"), response.status_code, response.headers

    def request_stream(self, *arguments: Any, **named: Any) -> NoReturn:
        """Never asked for: none of the operations used here streams."""
        raise NotImplementedError("Stripe's answers are not streamed here")

    def close(self) -> None:
        """The connections belong to the process, not to one step."""


def connect(ctx: StepContext) -> stripe.StripeClient:
    """A client with the step's key, whose requests end a little before the step's deadline."""
    remaining = ctx.remaining()
    request_deadline.set(time.monotonic() + remaining - min(0.2, remaining * 0.05))
    return stripe.StripeClient(
        _key(ctx.credential),
        base_addresses={"api": api_base()},
        max_network_retries=0,
        http_client=_http(os.getpid()),
    )


@lru_cache(maxsize=1)
def _http(pid: int) -> GuardedClient:
    return GuardedClient()


def _key(credential: Mapping[str, str] | None) -> str:
    if credential is None:
        raise StepError(
            "this step names no credential: create one of type stripe (api_key), and name it in "
            "the step's `credential`"
        )
    key = credential.get("api_key", "")
    if not (key.isascii() and key.isprintable() and " " not in key and key):
        raise StepError(
            "the credential's api_key is not one printable word, so no request can carry it: "
            "expected a key such as sk_live_… or rk_live_…"
        )
    return key
