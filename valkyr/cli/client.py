"""The API client that commands use. It raises CliError for errors, and yields lists row by row.

The same client calls a server over HTTP or, with `--local`, the project in this process; only the
transport differs.
"""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from valkyr.cli.errors import UNKNOWN_ADDRESS, CliError, Exit, refused
from valkyr.cli.interrupts import ends_when_interrupted

PAGE = 500
# Pauses before a repeatable request is sent again, in seconds; their number limits the repetitions.
PAUSES = (0.3, 1.0)
BROKEN = (httpx.ReadError, httpx.RemoteProtocolError, httpx.ReadTimeout, httpx.WriteError)
NOT_OURS = (
    "Use the address before /v1: for https://example.com/flows/v1/… it is "
    "https://example.com/flows."
)


@dataclass(frozen=True)
class StreamEvent:
    """A server-sent event; an event with the name "" only keeps the connection alive."""

    name: str
    id: str
    data: dict[str, Any]


class ApiClient:
    """The API of an installation; every method raises CliError for an unsuccessful response."""

    def __init__(self, http: httpx.Client, *, token: bool = True) -> None:
        """Store `http`, a client with the installation's address and the credentials."""
        self._http, self._token = http, token
        # Whether the last list continues beyond its limit.
        self.more = False

    def get(self, path: str, **query: Any) -> Any:
        """Send a GET request and return the response's JSON."""
        return self._json(self._send("GET", path, params=_given(query)))

    def text(self, path: str, accept: str) -> str:
        """Send a GET request and return the response as text of the media type `accept`."""
        return self._send("GET", path, headers={"Accept": accept}).text

    def post(
        self, path: str, body: Any = None, *, key: str = "", seconds: float | None = None
    ) -> Any:
        """Send a POST request and return the response's JSON.

        After a broken connection, the request is sent again only if `key`, its Idempotency-Key, is
        given. `seconds` replaces the default timeout.
        """
        more: dict[str, Any] = {"headers": {"Idempotency-Key": key} if key else {}}
        if seconds is not None:
            more["timeout"] = seconds
        return self._json(self._send("POST", path, json=body, **more))

    def patch(self, path: str, body: Any) -> Any:
        """Send a PATCH request and return the response's JSON."""
        return self._json(self._send("PATCH", path, json=body))

    def upload(self, path: str, content: bytes, media: str, **query: Any) -> Any:
        """Upload a document of the media type `media` and return the response's JSON."""
        headers = {"Content-Type": media}
        sent = self._send("POST", path, content=content, headers=headers, params=_given(query))
        return self._json(sent)

    def delete(self, path: str) -> None:
        """Send a DELETE request."""
        self._send("DELETE", path)

    def rows(self, path: str, limit: int | None = None, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield at most `limit` rows of a list, whose pages are requested one by one."""
        wanted = _given(query) | {"limit": str(min(limit or PAGE, PAGE))}
        left = limit
        while True:
            answer = self._send("GET", path, params=wanted)
            page = self._json(answer)
            found = page[:left]
            yield from found
            left = None if left is None else left - len(found)
            # Use only the cursor of the link, because behind a proxy, its host may be unreachable.
            following = urlsplit(answer.links.get("next", {}).get("url", "")).query
            cursor = parse_qs(following).get("cursor")
            self.more = bool(cursor) or len(found) < len(page)
            if left == 0 or not cursor:
                return
            wanted |= {"cursor": cursor[0]}

    def events(self, path: str, last: str, patience: float) -> Iterator[StreamEvent]:
        """Yield server-sent events until the stream ends or is silent for `patience` seconds."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        time_outs = httpx.Timeout(30, read=patience)
        try:
            with (
                ends_when_interrupted(),
                self._http.stream("GET", path, headers=headers, timeout=time_outs) as answer,
            ):
                if not answer.is_success:
                    answer.read()
                    raise self._refusal(answer)
                yield from _parsed(answer.iter_lines(), last)
        except BROKEN:
            return  # the caller reconnects
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        again = method == "GET" or "Idempotency-Key" in (more.get("headers") or {})
        pauses = iter(PAUSES if again else ())
        while True:
            try:
                with ends_when_interrupted():
                    answer = self._http.request(method, path, **more)
                break
            except httpx.HTTPError as error:
                pause = next(pauses, None) if isinstance(error, BROKEN) else None
                if pause is None:
                    raise self._unreachable(error) from error
                time.sleep(pause)
        if not answer.is_success:
            raise self._refusal(answer)
        return answer

    def _json(self, answer: httpx.Response) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError:
            raise CliError(
                f"{answer.request.url} did not answer with JSON.",
                Exit.UNREACHABLE,
                hint=NOT_OURS,
            ) from None

    def _refusal(self, answer: httpx.Response) -> CliError:
        try:
            problem = answer.json()
        except ValueError:
            problem = None
        if isinstance(problem, dict) and {"detail", "title"} & set(problem):
            again = answer.headers.get("Retry-After", "")
            error = refused(answer.status_code, problem, token=self._token, again=again)
            if error.problem.get("code") == UNKNOWN_ADDRESS:
                error.hint = NOT_OURS
            return error
        asked, said = answer.request, f"{answer.status_code} {answer.reason_phrase}"
        if to := answer.headers.get("Location"):
            said += f", a redirect to {to}"
        return CliError(
            f"{asked.method} {asked.url} got {said}, which is not a response of Valkyr's API.",
            Exit.UNREACHABLE,
            hint=NOT_OURS,
            problem={"status": answer.status_code},
        )

    def _unreachable(self, error: httpx.HTTPError) -> CliError:
        reason = str(error) or type(error).__name__
        return CliError(
            f"{self._http.base_url} does not answer: {reason}.",
            Exit.UNREACHABLE,
            hint="Check the address and the network, and that the server runs.",
        )


def _given(query: dict[str, Any]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value not in (None, "")
    }


def _parsed(lines: Iterable[str], last: str) -> Iterator[StreamEvent]:
    """Yield the server-sent events in a stream's lines; a comment line yields an event named "".

    As in the specification, several `data` lines form one text, an event without a name is a
    `message`, and an event without an ID has the previous ID, which is `last` at first.
    """
    name = ""
    data: list[str] = []
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if text := "\n".join(data):
                yield StreamEvent(name or "message", last, json.loads(text))
            name, data = "", []
        elif not field:
            yield StreamEvent("", "", {})
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last = value
