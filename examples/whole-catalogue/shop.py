"""A shop with articles in pages of three; it requests a retry once, at the third page.

Prints its address, on a free port, and serves until it is killed.

`GET /articles?after=<sku>` returns articles and the cursor of the next page, `GET /asked` the
cursors that were requested, in order.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TEAS = ("assam", "ceylon", "chai", "darjeeling", "earl-grey", "lapsang", "matcha", "mint", "oolong")
TEAS += ("rooibos", "sencha", "white")
PAGE = 3
asked: list[str] = []


def page(after: str) -> dict[str, Any]:
    """Return the articles after a cursor, and the next cursor."""
    first = TEAS.index(after) + 1 if after else 0
    found = TEAS[first : first + PAGE]
    articles = [{"sku": sku, "stock": TEAS.index(sku) % 4} for sku in found]
    last = first + PAGE >= len(TEAS)
    return {"articles": articles, "meta": {"next": None if last else found[-1]}}


class Shop(BaseHTTPRequestHandler):
    """Answers in JSON."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send one page, or the requested cursors."""
        parts = urlsplit(self.path)
        if parts.path == "/asked":
            return self._send(200, asked)
        after = parse_qs(parts.query).get("after", [""])[0]
        asked.append(after)
        if len(asked) == PAGE:
            return self._send(429, {"error": "not so fast"})
        return self._send(200, page(after))

    def _send(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    # The one private address that `make up` lets steps call.
    server = ThreadingHTTPServer(("127.0.0.77", 0), Shop)
    print(f"http://127.0.0.77:{server.server_port}", flush=True)
    server.serve_forever()
