"""Let a prefork worker finish reading a child's result after it reconnects to the broker.

A worker reads a result in steps, because a large one does not fit into a pipe. When the broker's
connection is lost, Celery drops the readers of its event loop, and with them a partly read result.
It then treats the rest as the beginning of the next result, and does not notice that the child is
free. Once all children are in this state, the worker receives messages and runs none.

Relies on: `ResultHandler._recv_message(add_reader, fd, callback)`, a generator that reads one
result and yields while the pipe is empty; `ResultHandler.fileno_to_outq`, the process of each pipe
(Celery 5.5 to 5.7).
No public way: the pool's classes are fixed, and the generator is known only to the event loop.
If it breaks: a worker that loses the broker while it reads a large result, such as the traceback of
a failed task, can stop running messages until it is restarted.
"""

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from celery.concurrency import asynpool

# Untyped, because Celery's stubs do not declare the private members of this class.
ResultHandler: Any = asynpool.ResultHandler


def continue_partial_results() -> None:
    """Make this process's pools continue a partly read result after the worker reconnects."""
    if ResultHandler._recv_message is not _continued:
        ResultHandler._recv_message = _continued


_read = ResultHandler._recv_message
# The unfinished read of each child's pipe; the entry of a child that ends is dropped.
_unfinished: WeakKeyDictionary[Any, Iterator[None]] = WeakKeyDictionary()


def _continued(
    self: Any, add_reader: Callable[..., None], fd: int, callback: Callable[[Any], None]
) -> Iterator[None]:
    process = self.fileno_to_outq[fd]
    result = _unfinished.get(process)
    if result is None:
        result = _unfinished[process] = _read(self, add_reader, fd, callback)
    # Not `yield from`, which would close the result's reader together with this generator.
    while True:
        try:
            next(result)
        except StopIteration:
            _unfinished.pop(process, None)
            return
        except BaseException:
            _unfinished.pop(process, None)
            raise
        yield
