"""Slow answers: a page's requests wait until the test releases them."""

from typing import Any


class Held:
    """Holds the requests of one method to a URL; `**` matches any part of it."""

    def __init__(self, page: Any, address: str, method: str = "GET") -> None:
        self.method = method
        self.over = False
        self.routes: list[Any] = []
        page.route(address, self._hold)

    def _hold(self, route: Any) -> None:
        if self.over or route.request.method != self.method:
            route.fallback()
        else:
            self.routes.append(route)

    def asks(self, request: Any) -> bool:
        """Return whether a request has the method, for `page.expect_request`."""
        return bool(request.method == self.method)

    def let_go(self) -> None:
        """Release the waiting requests; later requests do not wait."""
        self.over = True
        for route in self.routes:
            route.continue_()
