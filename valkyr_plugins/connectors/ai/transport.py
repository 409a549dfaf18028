"""Connections to models: guarded like connections of HTTP steps, with limited responses."""

from collections.abc import Iterator

import httpx

from runners.public.modules import StepError
from valkyr_plugins.connectors.network.transport import GuardedTransport

MEBIBYTE = 1024 * 1024
STREAM_BYTES = 64 * MEBIBYTE  # about 300 bytes per token: more than the longest answer of any model
WHOLE_BYTES = 16 * MEBIBYTE
# The client joins the lines of an event one by one, which takes quadratic time for a long event.
EVENT_BYTES = MEBIBYTE // 2


class BoundedTransport(GuardedTransport):
    """Rejects compressed responses, which were not requested; aborts responses over the limit."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; limit the body's size. Raises StepError if the body is compressed."""
        response = super().handle_request(request)
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", ""):
            response.close()
            raise StepError(
                f"{request.url.host} answered in the encoding {encoding[:50]!r}, which was not "
                "requested: ask the provider, or use another baseUrl"
            )
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Bounded(response.stream, request.url.host, _is_stream(response))
        return response


def _is_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


class _Bounded(httpx.SyncByteStream):
    """A response's body; raises StepError if the body, or one of its events, exceeds the limit."""

    def __init__(self, body: httpx.SyncByteStream, host: str, stream: bool) -> None:
        self._body = body
        self._host = host
        self._limit = STREAM_BYTES if stream else WHOLE_BYTES
        self._event = EVENT_BYTES if stream else WHOLE_BYTES

    def __iter__(self) -> Iterator[bytes]:
        total = event = 0
        for chunk in self._body:
            total += len(chunk)
            end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\n\r\n"))
            event = event + len(chunk) if end < 0 else len(chunk) - end
            if total > self._limit or event > self._event:
                where, most = ("", self._limit)
                if total <= self._limit:
                    where, most = (" in one event", self._event)
                raise StepError(
                    f"{self._host} responded with more than {most:,} bytes{where}: request "
                    "less (maxTokens, fewer texts), or use another baseUrl"
                )
            yield chunk

    def close(self) -> None:
        """Return the connection to its pool."""
        self._body.close()
