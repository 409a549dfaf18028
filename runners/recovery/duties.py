"""The sweeper's duties from plugins, and the processing of a duty's rows.

A duty selects a bounded batch. It changes or processes every row so that the row is not
immediately selected again, and sends messages last. It returns a count.
"""

import logging
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")
log = logging.getLogger(__name__)

Duty = Callable[[], int]
EVERY_SECOND: dict[str, Duty] = {}
"""The duties that plugins add to the sweep that runs every second, by unique name."""
EVERY_FIVE_SECONDS: dict[str, Duty] = {}
"""The duties that plugins add to the sweep that runs every five seconds, by unique name."""


def each(what: str, serve: Callable[P, int], *args: P.args, **kwargs: P.kwargs) -> int:
    """Process one row of a duty and return the result of `serve`.

    If `serve` fails, log the error and return 0, so that one bad row never blocks the rows after
    it.
    """
    try:
        return int(serve(*args, **kwargs))
    except Exception:
        log.exception("could not process %s; continuing with the others", what)
        return 0
