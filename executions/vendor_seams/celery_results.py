"""Counts the headers of chords, and waits for no result.

Celery watches the results of what it sends as a chord, also where they are ignored: a SUBSCRIBE
for each header, undone only when garbage is collected. A lost Redis then ends in "the application
must be restarted". Nobody here waits for a result, so nothing is watched: a chord costs its
messages and one counter.

Relies on: `RedisBackend` watches results through these four methods only (Celery 5.3 to 5.7).
No public way: no setting of the backend turns the subscriptions off.
If it breaks: publishing processes subscribe again, or do not find the method that they call.
"""

from collections.abc import Iterable
from typing import Any

from celery.backends.redis import RedisBackend


class ChordCounter(RedisBackend):
    """Celery's Redis backend without its subscriptions."""

    def add_pending_result(
        self, result: Any, weak: bool = False, start_drainer: bool = True
    ) -> Any:
        """Do not wait for it."""
        return result

    def add_pending_results(self, results: Iterable[Any], weak: bool = False) -> list[Any]:
        """Do not wait for them."""
        return list(results)

    def remove_pending_result(self, result: Any) -> Any:
        """Nobody waited for it."""
        return result

    def on_task_call(self, producer: Any, task_id: str) -> None:
        """Do not listen for what is sent."""
