"""The stream of those who watch live, as the document describes it."""

from typing import Any

# Of no type: to who reads all of it this is text, to who reads it as a stream each event is an
# object, and generated clients and validators take either side.
EVENT_STREAM: dict[str, Any] = {
    "description": "Events, each of three lines. `id`: come back with it in the header "
    "Last-Event-ID. `event`: `snapshot` (everything that is watched, as it is), `state` (what "
    "changed) or `end` (the execution has ended, and nothing follows). `data`: JSON on one line.",
}
