"""A client that watches live, as the monitor does: it keeps the newest state of each row."""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass
class LiveRun:
    """A viewer's current state: the received rows by id."""

    executions: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    last: str = ""
    events: list[str] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return bool(self.events) and self.events[-1] == "end"

    def take(self, event: str, cursor: str, data: dict[str, Any]) -> None:
        """Process a frame; store its name last, because a thread that waits for the name reads the
        rows.
        """
        told = data.get("executions", []) + ([data["execution"]] if "execution" in data else [])
        self.executions |= {row["id"]: row for row in told}
        self.runs |= {row["id"]: row for row in data.get("runs", [])}
        self.last = cursor
        self.events.append(event)

    def states(self) -> dict[str, str]:
        return {pk: row["state"] for pk, row in self.runs.items()}


def read_events(lines: Iterable[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield server-sent events as (event, id, data); skip comments and `retry`."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}
        else:
            fields = {}


def watch(
    url: str,
    headers: dict[str, str],
    seen: LiveRun,
    *,
    frames: int = 1_000_000,
    seconds: float = 60,
) -> LiveRun:
    """Watch over one connection for at most `seconds` and `frames`, until it ends or `end`
    arrives.
    """
    sent = headers | ({"Last-Event-ID": seen.last} if seen.last else {})
    deadline = time.monotonic() + seconds
    with httpx.stream("GET", url, headers=sent, timeout=seconds) as answer:
        if answer.status_code != 200:
            answer.read()
        answer.raise_for_status()
        for number, event in enumerate(read_events(answer.iter_lines()), start=1):
            seen.take(*event)
            assert time.monotonic() < deadline, f"no end within {seconds} s: {seen.events}"
            if event[0] == "end" or number >= frames:
                break
    return seen
