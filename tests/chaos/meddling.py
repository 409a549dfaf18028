"""A hook in sending processes: it sends each message twice, some of them after later ones.

Processes load it by VALKYR_EXTRA_MODULES; it is active while the file named by VALKYR_CHAOS_MEDDLE
exists. It wraps kombu's producer, so it is outside the engine and the same for every broker. A
delayed message that no later one follows is lost, which must do no harm either.
"""

import os
import threading
from random import Random
from typing import Any

from kombu import messaging

VARIABLE = "VALKYR_CHAOS_MEDDLE"
HELD_BACK = 0.3  # share of messages that wait for the next one of their process and thread

_plain = messaging.Producer._publish
_own = threading.local()
_random = Random(os.urandom(8))


def _meddle(self: Any, *args: Any, **options: Any) -> Any:
    flag = os.environ.get(VARIABLE, "")
    if not flag or not os.path.exists(flag):  # noqa: PTH110 - at every message: the cheapest look
        return _plain(self, *args, **options)
    held: list[Any] = _own.__dict__.setdefault("held", [])
    if not held and _random.random() < HELD_BACK:
        held.append((args, options))
        return None
    answer = _twice(self, *args, **options)
    while held:
        earlier, given = held.pop()
        _twice(self, *earlier, **given)
    return answer


def _twice(producer: Any, *args: Any, **options: Any) -> Any:
    _plain(producer, *args, **options)
    return _plain(producer, *args, **options)


def install() -> None:
    """Intercept this process's producers."""
    messaging.Producer._publish = _meddle


install()
