"""The way from a request to its final answer: signing in by digest, and redirects.

What may be a credential does not follow to another origin: headers are dropped, and a body that may
hold a secret of the step ends the way there.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import httpx

from runners.public.modules import StepError
from valkyr_plugins.connectors.network.transport import client

MAX_REDIRECTS = 5
# What may follow a redirect to another origin; the rest may be credentials.
HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


@contextmanager
def followed(
    request: httpx.Request,
    *,
    private: Collection[str],
    digest: httpx.DigestAuth | None,
    follow: bool,
    guarded: bool,
    name: str,
) -> Iterator[httpx.Response]:
    """The final answer, its body not read yet, after the redirects that are to be followed.

    `private` are the lower-case names of headers that are for the first origin alone. With
    `guarded`, no body goes to another origin. Raises StepError.
    """
    for _ in range(MAX_REDIRECTS + 1):
        response = _sent(request, digest)
        try:
            following = response.next_request if follow else None
            if following is None:
                yield response
                return
        finally:
            # The body of a redirect is not read: it may be endless.
            response.close()
        if origin(following.url) != origin(request.url):
            if guarded and _has_body(following):
                raise _refused(following, name)
            drop_private(following.headers, private)
            digest = None
        request = following
    raise StepError(f"{name}: more than {MAX_REDIRECTS} redirects")


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port


def drop_private(headers: httpx.Headers, private: Collection[str]) -> None:
    """Take out what another origin must not see."""
    for name in private:
        if name not in HARMLESS_HEADERS:
            headers.pop(name, None)


def _has_body(request: httpx.Request) -> bool:
    """Whether a redirect kept the method and the body (307, 308)."""
    return (
        request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    )


def _refused(following: httpx.Request, name: str) -> StepError:
    scheme, host, port = origin(following.url)
    place = f"{scheme}://{host}" + (f":{port}" if port else "")
    return StepError(
        f"{name} redirects to {place}, another origin, and wants the body sent there. The step "
        f"uses secrets, so its body goes to no other origin: call {place} itself if it is to have "
        "them, or set followRedirects to false"
    )


def _sent(request: httpx.Request, digest: httpx.DigestAuth | None) -> httpx.Response:
    if digest is None:
        return client().send(request, stream=True)
    # httpx would read the body of the challenge, which may be endless, so its steps are taken here.
    steps = digest.sync_auth_flow(request)
    challenge = client().send(next(steps), stream=True, auth=httpx.Auth())
    try:
        signed = steps.send(challenge)
    except StopIteration:
        return challenge
    except BaseException:
        challenge.close()
        raise
    challenge.close()
    return client().send(signed, stream=True, auth=httpx.Auth())
