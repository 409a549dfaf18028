"""One message to a viewer, and how it is written on the two kinds of connection."""

import json
from dataclasses import dataclass
from typing import Any

from executions.live.cursor import Mark
from executions.live.rows import rfc3339

SNAPSHOT, STATE, END = "snapshot", "state", "end"
# The client waits so long before it comes back, in milliseconds.
RETRY = b"retry: 1000\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """`id` is the cursor to come back with; `data` is one line of JSON."""

    event: str
    id: str
    data: str

    def event_stream(self) -> bytes:
        """As a server-sent event."""
        return f"id: {self.id}\nevent: {self.event}\ndata: {self.data}\n\n".encode()

    def message(self) -> str:
        """As the text of a WebSocket's message."""
        event, cursor = json.dumps(self.event), json.dumps(self.id)
        return f'{{"event":{event},"id":{cursor},"data":{self.data}}}'


def frame(event: str, mark: Mark, data: dict[str, Any]) -> Frame:
    """A frame of what was read at a mark."""
    line = json.dumps({"now": rfc3339(mark.now), **data}, separators=(",", ":"))
    return Frame(event, str(mark.cursor), line)
