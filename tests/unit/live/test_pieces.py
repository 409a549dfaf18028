"""Tests of the parts of live watching that need no database."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from executions.live import hub as memories
from executions.live import viewer as viewers
from executions.live.event_stream import Full, StreamSlots
from executions.live.feed import Mark, read_cursor
from executions.live.hub import LookPacing, RowFingerprints
from executions.live.viewer import StreamEnded, Viewer, frame
from runners.live.feeds import EXECUTIONS
from tests.support.coroutines import awaited

AT = Mark(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), 77)
PK: UUID = uuid4()


def test_a_cursor_from_beyond_now_is_of_no_use() -> None:
    assert read_cursor("77", 77) == 77
    assert [read_cursor(text, 77) for text in ("78", "", None, "x", "7.", "\u0667", "1" * 30)] == [
        None
    ] * 7


def test_a_frame_is_one_event_and_one_message() -> None:
    made = frame("state", AT, {"runs": [{"error": "two\nlines"}]})

    name, event, data = made.event_stream().decode().removesuffix("\n\n").split("\n")
    assert (name, event) == ("id: 77", "event: state")
    told = {"now": "2026-01-02T03:04:05Z", "runs": [{"error": "two\nlines"}]}
    assert json.loads(data.removeprefix("data: ")) == told
    assert json.loads(made.message()) == {"event": "state", "id": "77", "data": told}


def test_what_looks_the_same_is_told_once() -> None:
    memory = RowFingerprints()
    row = {"id": "a", "state": "PENDING"}

    assert memory.unknown([row]) == [row]
    assert memory.unknown([dict(row)]) == []
    assert memory.unknown([row | {"state": "RUNNING"}]) != []


def test_a_memory_forgets_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "MOST", 2)
    memory = RowFingerprints()
    rows = [{"id": name} for name in "abc"]
    memory.unknown(rows)

    assert memory.unknown(rows[1:]) == []
    assert memory.unknown(rows[:1]) == rows[:1]


def test_the_hub_rests_by_the_quickest_of_its_last_looks() -> None:
    pace = LookPacing()

    assert [pace.rest_after(took) for took in (0.001, 1.0, 1.0, 1.0, 0.05)] == [
        0.2, 0.2, 0.2, 2.0, 0.5,
    ]  # fmt: skip


def test_places_are_counted_by_person_and_in_all(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"LIVE_VIEWERS": 3, "LIVE_VIEWERS_EACH": 2}
    places = StreamSlots()
    with places.held(1), places.held(1):
        assert places.full(1) is Full.PERSON
        with places.held(1) as free:
            assert not free
        assert places.full(2) is None
        with places.held(2):
            assert places.full(3) is Full.PROCESS

    assert places.full(1) is None


def test_a_viewer_reads_what_came_before_it_was_closed() -> None:
    @awaited
    async def read() -> list[Any]:
        viewer = Viewer(EXECUTIONS, PK)
        told = [frame("snapshot", AT, {}), frame("end", AT, {})]
        assert await viewer.next(0.001) is None
        assert viewer.offer(told)
        viewer.close()
        found = [await viewer.next(5), await viewer.next(5)]
        with pytest.raises(StreamEnded):
            await viewer.next(5)
        return [one.event for one in found if one]

    assert read() == ["snapshot", "end"]


def test_a_viewer_that_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "MOST_FRAMES", 3)
    dropped: list[bool] = []

    @awaited
    async def fill() -> None:
        viewer = Viewer(EXECUTIONS, PK)
        viewer.when_dropped(lambda: dropped.append(True))
        assert [viewer.offer([frame("state", AT, {})]) for _ in range(4)] == [*[True] * 3, False]
        with pytest.raises(StreamEnded):
            await viewer.next(5)

    fill()
    assert dropped == [True]


@pytest.mark.parametrize("turns", range(5))
def test_a_viewer_that_is_cancelled_as_news_come_ends(turns: int) -> None:
    """A viewer that is cancelled while news arrives ends.

    Before, an ended connection continued for five minutes, and its client was not informed.
    """

    async def meet() -> tuple[bool, bool]:
        viewer = Viewer(EXECUTIONS, PK)
        waits = asyncio.create_task(viewer.next(60))
        await asyncio.sleep(0)
        viewer.offer([frame("state", AT, {})])
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled = waits.cancel()
        await asyncio.wait([waits])
        return cancelled, waits.cancelled()

    asked, cancelled = asyncio.run(meet())
    assert asked == cancelled
