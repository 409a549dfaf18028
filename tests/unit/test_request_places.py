"""Slots for requests: the queue, the time in the queue, and the release of a slot."""

import asyncio

import pytest

from valkyr_project.http.places import PATIENCE, SHORT_PATIENCE, Overloaded, Places, RequestPlace


class Clock:
    """A clock that a test sets, in seconds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def _wait(places: Places) -> asyncio.Task[RequestPlace]:
    """Start a caller that waits in the queue."""
    before = places.waiting
    caller = asyncio.create_task(places.wait())
    while places.waiting == before:
        await asyncio.sleep(0)
    return caller


def _taken(places: Places) -> RequestPlace:
    place = places.take_free()
    assert place is not None
    return place


def test_a_free_place_goes_to_the_request_that_waits_longest() -> None:
    async def story() -> None:
        places = Places(1)
        first = _taken(places)
        assert places.take_free() is None
        second, third = await _wait(places), await _wait(places)

        first.give_back()
        first.give_back()

        (await second).give_back()
        (await third).give_back()
        assert places.waiting == 0
        assert places.take_free() is not None
        assert places.take_free() is None

    asyncio.run(story())


def test_a_caller_that_leaves_the_queue_takes_no_place() -> None:
    async def story() -> None:
        places = Places(1)
        held = _taken(places)
        leaving, staying, late = [await _wait(places) for _ in range(3)]

        leaving.cancel()
        held.give_back()
        held_too = await staying
        # Its turn has come, and it is cancelled before it learns that.
        held_too.give_back()
        late.cancel()

        for gone in (leaving, late):
            with pytest.raises(asyncio.CancelledError):
                await gone
        assert places.waiting == 0
        assert places.take_free() is not None

    asyncio.run(story())


def test_in_a_queue_that_stays_requests_wait_for_less_time() -> None:
    async def story() -> None:
        clock = Clock()
        places = Places(1, clock)
        held = _taken(places)
        assert places.patience == PATIENCE
        waiting = await _wait(places)
        clock.now = PATIENCE + 1

        assert places.patience == SHORT_PATIENCE
        with pytest.raises(Overloaded):
            await places.wait()

        held.give_back()
        (await waiting).give_back()
        assert places.patience == PATIENCE

    asyncio.run(story())


def test_a_full_queue_refuses_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("valkyr_project.http.places.QUEUE_LIMIT", 1)

    async def story() -> None:
        places = Places(1)
        held = _taken(places)
        waiting = await _wait(places)

        with pytest.raises(Overloaded):
            await places.wait()

        held.give_back()
        (await waiting).give_back()

    asyncio.run(story())
