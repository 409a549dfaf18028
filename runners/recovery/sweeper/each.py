"""Serve one row of a duty; a row that cannot be served never blocks those behind it."""

import logging
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")
log = logging.getLogger(__name__)


def each(what: str, serve: Callable[P, int], *args: P.args, **kwargs: P.kwargs) -> int:
    """What `serve` returns; 0, and a line in the log, when it raises."""
    try:
        return int(serve(*args, **kwargs))
    except Exception:
        log.exception("could not serve %s; going on", what)
        return 0
