"""`manage.py consume` that kills itself at the worst moment, just before it acknowledges a
message.
"""

import os
import signal

from executions.triggers.queues.sources import RedisSource
from manage import main


def acknowledge(self: RedisSource) -> None:
    """Kill this process instead of acknowledging."""
    os.kill(os.getpid(), signal.SIGKILL)


RedisSource.acknowledge = acknowledge  # type: ignore[method-assign]
main()
