"""The corpus: canvases and tasks, by their special properties. Both sides run each of them."""

# ruff: noqa: PLW0108 - a signature made at import would load the app

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from celery import chain, chord, group

from tests.plugins.canvas.workers.tasks import (
    add,
    again,
    auto,
    auto_ends,
    climbs,
    climbs_by_name,
    counted,
    dates,
    fails,
    fails_its_own_way,
    given,
    gives_up,
    gives_up_without_an_error,
    is_a_date,
    late,
    mul,
    never_again,
    nothing,
    quiet,
    seen,
    split,
    tidies,
    total,
)


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=0.2)


def linked() -> Any:
    signature = add.s(1, 2)
    signature.link(mul.s(10))
    return signature


CORPUS: dict[str, Callable[[], Any]] = {
    # ---- one task
    "a task": lambda: add.s(1, 2),
    "arguments by name": lambda: add.s(1, y=4),
    "only arguments by name": lambda: given.s(a=1, b={"c": [1, None]}),
    "signature() with args and kwargs": lambda: add.signature((2,), {"y": 5}),
    "an immutable signature": lambda: add.si(2, 2),
    "no result": lambda: nothing.s(),
    "text, lists and mappings": lambda: given.s("é", [1, [2]], {"a": {"b": 1.5}}, True, None),
    "dates, Decimals, UUIDs and bytes come back": lambda: dates.s(date(2026, 2, 28)),
    "a UUID as an argument": lambda: is_a_date.s([UUID(int=1), date(2026, 1, 1)]),
    "a partial signature, completed": lambda: add.s(2).clone((1,)),
    "a signature cloned with kwargs": lambda: add.s(2).clone(kwargs={"y": 9}),
    "replace of arguments": lambda: add.s(2).replace(args=(5, 6)),
    "countdown": lambda: add.s(1, 2).set(countdown=0.2),
    "eta": lambda: add.s(1, 2).set(eta=soon()),
    "expires that is kept": lambda: add.s(1, 2).set(expires=60),
    "expires at an instant": lambda: add.s(1, 2).set(expires=soon() + timedelta(minutes=1)),
    "priority": lambda: add.s(1, 2).set(priority=3),
    "time limits": lambda: add.s(1, 2).set(time_limit=30, soft_time_limit=20),
    "a queue of the project's": lambda: add.s(1, 2).set(queue="letters"),
    "serializer and retry_policy": lambda: add.s(1, 2).set(serializer="json", retry=True),
    "link": linked,
    "ignore_result of a signature": lambda: add.s(1, 2).set(ignore_result=True),
    "ignore_result of a task": lambda: quiet.s(),
    # ---- how tasks are written
    "self.request": lambda: seen.s(1, "two"),
    "self.retry": lambda: again.s(2),
    "self.retry without an end": lambda: climbs.s(1),
    "self.retry with other kwargs": lambda: climbs_by_name.s(),
    "self.retry gives up with its error": lambda: gives_up.s(),
    "self.retry gives up without one": lambda: gives_up_without_an_error.s(),
    "max_retries of 0": lambda: never_again.s(),
    "autoretry_for with backoff": lambda: auto.s(2),
    "autoretry_for gives up": lambda: auto_ends.s("key"),
    "dont_autoretry_for": lambda: auto_ends.s("value"),
    "a base class with __call__": lambda: counted.s(3),
    "acks_late": lambda: late.s(3),
    "a soft time limit that the task catches": lambda: tidies.s(),
    "a task that fails": lambda: fails.s(),
    "an error of the project's own": lambda: fails_its_own_way.s(),
    # ---- chains
    "a chain": lambda: chain(add.s(1, 2), mul.s(3), add.s(4)),
    "a chain by |": lambda: add.s(1, 2) | mul.s(3) | add.s(4),
    "a chain of one": lambda: chain(add.s(1, 2)),
    "a chain of a generator": lambda: chain(add.s(i) if i else add.s(0, 0) for i in range(5)),
    "an immutable task in a chain": lambda: chain(add.s(1, 2), add.si(5, 5), mul.s(2)),
    "a chain with partial arguments": lambda: chain(add.s(4), mul.s(8)).clone((4,)),
    "chains in chains": lambda: chain(chain(add.s(1, 1), add.s(2)), chain(mul.s(3), add.s(1))),
    "a countdown in a chain": lambda: chain(add.s(1, 1), add.s(2).set(countdown=0.2)),
    "a retry in a chain": lambda: chain(add.s(1, 1), again.s(), add.s(1)),
    "a chain that fails at first": lambda: chain(fails.s(), add.s(1)),
    "a chain that fails at last": lambda: chain(add.s(1, 1), fails.s()),
    "a mapping passed on": lambda: chain(given.s(a=1), given.s(b=2)),
    "dates passed on": lambda: chain(dates.s(date(2026, 1, 1)), is_a_date.s()),
    "a long chain": lambda: chain(add.s(0, 1), *(add.s(1) for _ in range(24))),
    "a chain that begins with what ignores its result": lambda: chain(quiet.s(1), add.s(3)),
    # ---- groups
    "a group": lambda: group(add.s(i, i) for i in range(4)),
    "a group of a list": lambda: group([add.s(1, 1), mul.s(2, 2)]),
    "a group of one": lambda: group(add.s(1, 1)),
    "a group of groups": lambda: group(group(add.s(1, 1), add.s(2, 2)), add.s(3, 3)),
    "a group of chains": lambda: group(chain(add.s(1, 1), add.s(i)) for i in range(3)),
    "a group of tasks that retry": lambda: group(again.s(1), auto.s(1), climbs.s(2)),
    "a group with a countdown": lambda: group(add.s(1, 1), add.s(2, 2)).set(countdown=0.1),
    "a group that fails": lambda: group(add.s(1, 1), fails.s()),
    "a wide group": lambda: group(add.s(i, 1) for i in range(30)),
    # ---- chords
    "a chord": lambda: chord((add.s(i, i) for i in range(5)), total.s()),
    "a chord by |": lambda: group(add.s(1, 1), add.s(2, 2)) | total.s(),
    "a chord of one": lambda: chord([add.s(1, 1)], total.s()),
    "a chord with an empty header": lambda: chord([], total.s()),
    "a chord whose body has arguments": lambda: chord([add.s(1, 1)], given.s("more", a=1)),
    "a chord whose body is immutable": lambda: chord([add.s(1, 1), add.s(2, 2)], add.si(7, 7)),
    "a chord whose body is a chain": lambda: chord([add.s(1, 1)], chain(total.s(), add.s(9))),
    "a chord whose body is a group": lambda: chord(
        [add.s(1, 1), add.s(2, 2)], group(total.s(), given.s())
    ),
    "a chord of chains": lambda: chord(
        [chain(add.s(1, 1), mul.s(2)), chain(add.s(2, 2), mul.s(3))], total.s()
    ),
    "a chord in a chord's header": lambda: chord(
        [chord([add.s(1, 1), add.s(2, 2)], total.s()), add.s(5, 5)], total.s()
    ),
    "a group in a chord's header": lambda: chord(
        [group(add.s(1, 1), add.s(2, 2)), add.s(3, 3)], total.s()
    ),
    "a chord of tasks that retry": lambda: chord([again.s(1), climbs.s(1)], total.s()),
    # ---- all together
    "a group in a chain": lambda: chain(add.s(1, 1), group(add.s(1), add.s(2)), total.s()),
    "a group at a chain's end": lambda: chain(add.s(1, 1), group(add.s(1), mul.s(5))),
    "a group at a chain's beginning": lambda: chain(group(add.s(1, 1), add.s(2, 2)), total.s()),
    "two groups after each other": lambda: chain(
        group(add.s(1, 1), add.s(2, 2)), group(total.s(), given.s()), given.s()
    ),
    "a group of one in a chain": lambda: chain(add.s(1, 1), group([add.s(3)]), add.s(4)),
    "an empty group in a chain": lambda: chain(add.s(1, 1), group([]), add.s(4)),
    "a chord in a chain": lambda: chain(
        add.s(1, 1), chord([add.s(1), add.s(2)], total.s()), mul.s(2)
    ),
    "a chain of chords": lambda: chain(
        chord([add.s(1, 1)], total.s()), chord([add.s(2), add.s(3)], total.s())
    ),
    "a group of chords": lambda: group(
        chord([add.s(1, 1), add.s(2, 2)], total.s()), chord([add.s(3, 3)], total.s())
    ),
    "a group in a chain in a group": lambda: group(
        chain(add.s(1, 1), group(add.s(1), add.s(2)), total.s()), add.s(1, 1)
    ),
    "map": lambda: total.map([[1, 2], [3, 4]]),
    "starmap": lambda: add.starmap([(1, 2), (3, 4), (5, 6)]),
    "chunks": lambda: add.chunks([(i, i) for i in range(7)], 3),
    "map in a chain": lambda: chain(add.s(1, 1), total.map([[1, 2], [3]]), total.s()),
    "a list passed to a task": lambda: chain(split.s(4), total.s()),
}
