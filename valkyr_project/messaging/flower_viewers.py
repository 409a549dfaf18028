"""Make workers report each message to Flower only while a user views Flower.

A report costs a worker and Flower 1.4 ms together, more than most steps do. A request for a page of
Flower turns reports on in every worker; a few minutes after the last request, they are turned off.
`VALKYR_TASK_EVENTS` overrides this: with 1, workers always report; with 0, they never report.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from celery import Celery
from flower.urls import settings as flower_settings  # type: ignore[import-untyped]
from flower.views.monitor import Healthcheck, Metrics  # type: ignore[import-untyped]
from kombu.exceptions import OperationalError
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.web import RequestHandler, StaticFileHandler

from executions import environment as env

log = logging.getLogger(__name__)

# Seconds for which a view of a page counts, because the task list does not reload itself.
LOOK_SECONDS = 300.0
# Seconds until a command is repeated, because workers may have started since, or missed it.
ENABLE_SECONDS, DISABLE_SECONDS = 5.0, 60.0
# Handlers that are public and called by machines. All other requests need a sign-in.
OPEN = (StaticFileHandler, Healthcheck, Metrics)
ANSWERED = {200, 304}


@dataclass
class Viewers:
    """Records when Flower was last viewed, and when workers last got a command (monotonic seconds).

    Without a view, the first command stops the reports: an earlier Flower may have died while a
    user viewed it.
    """

    looked_at: float = float("-inf")
    told_at: float = float("-inf")
    enabled: bool = False

    def due(self, now: float) -> bool | None:
        """Return True to make workers report, False to make them stop, or None for no command."""
        wanted = now - self.looked_at < LOOK_SECONDS
        pause = ENABLE_SECONDS if wanted else DISABLE_SECONDS
        if wanted == self.enabled and now - self.told_at < pause:
            return None
        return wanted

    def told(self, enabled: bool, now: float) -> None:
        """Record the command, sent at `now`, that turns reports on or off."""
        self.enabled, self.told_at = enabled, now


@dataclass
class FlowerWatch:
    """Records views of Flower, and sends commands to the workers from a separate thread."""

    app: Celery
    viewers: Viewers = field(default_factory=Viewers)
    clock: Callable[[], float] = time.monotonic

    def note(self, handler: RequestHandler) -> None:
        """Record a view if Flower responded with a page. Tornado calls this as `log_function`."""
        if handler.get_status() in ANSWERED and not isinstance(handler, OPEN):
            self.viewers.looked_at = self.clock()
            IOLoop.current().add_callback(self.tell)

    async def tell(self) -> None:
        """Send the command that is due, if any; after a failure, the next call sends it again."""
        now = self.clock()
        wanted = self.viewers.due(now)
        if wanted is None:
            return
        self.viewers.told(wanted, now)
        control = self.app.control
        order = control.enable_events if wanted else control.disable_events
        try:
            await IOLoop.current().run_in_executor(None, order)
        except (OSError, OperationalError) as error:
            self.viewers.told_at = float("-inf")
            log.warning("workers could not be notified whether to report to Flower (%s)", error)


def watch(app: Celery) -> None:
    """Make Flower, which starts in this process, send the commands that turn reports on and off.

    The function does nothing if `VALKYR_TASK_EVENTS` turns reports on or off permanently.
    """
    if env.text("VALKYR_TASK_EVENTS"):
        return
    watching = FlowerWatch(app)
    flower_settings["log_function"] = watching.note
    timer = PeriodicCallback(watching.tell, 1000 * ENABLE_SECONDS)
    IOLoop.current().add_callback(timer.start)
