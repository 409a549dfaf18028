"""Limit a process's concurrent requests, and reject further requests early.

The threads of a process share one processor. Too many requests slow each other down, and an
operator's request would wait behind them. Requests therefore wait for one of a few slots, first
come, first served, for a limited time. A queue that does not empty shows overload, not a burst. The
time limit is then shorter, as in controlled delay (Nichols and Jacobson, "Controlling Queue Delay",
2012).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

# Maximum seconds that a request waits for a slot: normally, and if the queue has not been empty for
# longer than that.
PATIENCE, SHORT_PATIENCE = 5.0, 0.5
# Maximum number of waiting requests, each of which keeps its body.
QUEUE_LIMIT = 1_000


class Overloaded(Exception):
    """No slot became free in time."""


class RequestPlace:
    """A slot that a request holds until the request returns it; returning it twice is harmless."""

    def __init__(self, places: "Places") -> None:
        """Create a slot that belongs to `places`."""
        self._places: Places | None = places

    def give_back(self) -> None:
        """Release the slot; call this method in the event loop's thread."""
        places, self._places = self._places, None
        if places is not None:
            places.pass_on()


class Places:
    """A pool of `most` slots; only one event loop's thread may use it."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with all slots free; `clock` returns seconds."""
        self._free = most
        self._clock = clock
        self._queue: deque[asyncio.Future[None]] = deque()
        # The time since which the queue is not empty; None while it is empty.
        self._since: float | None = None

    @property
    def waiting(self) -> int:
        """Return the number of waiting requests."""
        return len(self._queue)

    @property
    def patience(self) -> float:
        """Return how long a new request may wait, in seconds."""
        busy = self._since is not None and self._clock() - self._since > PATIENCE
        return SHORT_PATIENCE if busy else PATIENCE

    def take_free(self) -> RequestPlace | None:
        """Return a slot if one is free; otherwise return None."""
        if not self._free:
            return None
        self._free -= 1
        return RequestPlace(self)

    async def wait(self) -> RequestPlace:
        """Wait for a slot, after `take_free` returned None.

        Raises Overloaded if the queue is full or no slot becomes free in time.
        """
        if len(self._queue) >= QUEUE_LIMIT:
            raise Overloaded
        if self._since is None:
            self._since = self._clock()
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            async with asyncio.timeout(self.patience):
                await turn
        except TimeoutError:
            self._leave(turn)
            raise Overloaded from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        return RequestPlace(self)

    def pass_on(self) -> None:
        """Give a returned slot to the request that has waited longest, or mark the slot free."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():  # otherwise, its owner is about to leave the queue
                turn.set_result(None)
                break
        else:
            self._free += 1
        self._noticed()

    def _leave(self, turn: "asyncio.Future[None]") -> None:
        """Stop waiting; if a slot was assigned at the same moment, pass it to the next request."""
        if turn.done() and not turn.cancelled():
            self.pass_on()
        elif turn in self._queue:
            self._queue.remove(turn)
        self._noticed()

    def _noticed(self) -> None:
        if not self._queue:
            self._since = None
