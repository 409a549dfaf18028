"""Whether who sent a request is still there to hear the answer."""

import asyncio
from concurrent.futures import Future
from typing import Any


class DisconnectWatch:
    """Asked from the request's thread; until it is, nothing is watched.

    `receive` is the request's ASGI channel, of which the body has been read.
    """

    def __init__(self, receive: Any) -> None:
        """Watch nothing yet; made in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        self._watch: Future[None] | None = None

    def __call__(self) -> bool:
        """Whether the client is gone; the first question is answered with no."""
        if self._watch is None:
            self._watch = asyncio.run_coroutine_threadsafe(self._until_gone(), self._loop)
        return self._watch.done()

    def forget(self) -> None:
        """Watch no longer: the request is answered."""
        if self._watch is not None:
            self._watch.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
