"""Count the ended tasks of a chord without subscriptions to their results.

Celery subscribes to the results of a chord's tasks, even if they are ignored: one SUBSCRIBE for
each task, which ends only with garbage collection. If Redis is lost, Celery then fails with "The
Celery application must be restarted". Valkyr waits for no result and subscribes to none: a chord
costs its messages and one counter.

Relies on: `RedisBackend` watches results only through the methods below; `SentinelBackend` reads
`sentinel_kwargs` from `_transport_options` when it makes its pool (Celery 5.3 to 5.7).
No public way: no setting of the backend turns the subscriptions off.
If it breaks: publishing processes subscribe again, or do not find the method that they call; after
a failover of Redis they wait for Sentinels that do not answer.
"""

from collections.abc import Iterable
from typing import Any

from celery.backends.redis import RedisBackend, SentinelBackend

from executions.vendor_seams.kombu_redis import sentinel_kwargs


class WithoutWatching:
    """Replaces the methods with which Celery's Redis backend subscribes to results."""

    def add_pending_result(
        self, result: Any, weak: bool = False, start_drainer: bool = True
    ) -> Any:
        """Return the result without waiting for it."""
        return result

    def add_pending_results(self, results: Iterable[Any], weak: bool = False) -> list[Any]:
        """Return the results without waiting for them."""
        return list(results)

    def remove_pending_result(self, result: Any) -> Any:
        """Return the result, which was not registered."""
        return result

    def on_task_call(self, producer: Any, task_id: str) -> None:
        """Do not subscribe to the results of sent tasks."""


class ChordCounter(WithoutWatching, RedisBackend):
    """Celery's Redis backend without its subscriptions."""


class SentinelChordCounter(WithoutWatching, SentinelBackend):
    """A ChordCounter on the primary that Sentinels name.

    Each Sentinel is asked once, for at most 1 s.
    """

    _transport_options: Any

    def _get_sentinel_instance(self, **params: Any) -> Any:
        options = self._transport_options
        asked = {"sentinel_kwargs": sentinel_kwargs(options.get("sentinel_kwargs"))}
        self._transport_options = options | asked
        return super()._get_sentinel_instance(**params)  # type: ignore[misc]
