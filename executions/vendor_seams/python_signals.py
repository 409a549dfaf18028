"""Tells which function handles a signal, without making an enumeration of what it finds.

`signal.getsignal` wraps the function of the same name in C and looks its result up in an `Enum`,
which raises and catches a ValueError for each handler that is a function: 1.5 us, for every step
that has a time limit.

Relies on: `signal.getsignal.__wrapped__`, as `functools.wraps` leaves it (Python 3.11 to 3.14).
No public way: the module exports the wrapped form only.
If it breaks: the attribute is missing, and `signal.getsignal` itself is used.
"""

import signal
from collections.abc import Callable
from typing import Any

current_handler: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
"""The handler of a signal: a function, or an integer for the default and for ignoring it."""
