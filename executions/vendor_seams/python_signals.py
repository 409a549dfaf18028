"""Return the function that handles a signal, without creating an enumeration member.

`signal.getsignal` looks up the result of the C function of the same name in an `Enum`, which raises
and catches a ValueError for each handler that is a function: 1.5 us for every step with a time
limit.

Relies on: `_signal.getsignal` (Python 3.11 to 3.14).
No public way: the module `signal` exports the wrapped form only.
If it breaks: the import fails, and no step runs.
"""

from _signal import getsignal as current_handler  # type: ignore[import-not-found]

__all__ = ["current_handler"]
