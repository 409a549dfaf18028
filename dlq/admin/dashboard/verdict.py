"""The home page's first sentences, which report whether something is wrong, and where.

This module is pure: it turns facts into text. Plugins add problems in blocks and sections.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext, ngettext

from dlq.admin.dashboard.blocks import SECTIONS, HomeProblem
from dlq.admin.dashboard.facts import Facts
from dlq.admin.groups_filters import StatusFilter
from executions import addresses
from executions.admin import links, marks
from executions.admin.changelist import BOUND

# Waits of a queue's first step, and delays of a schedule, that are reported if they are longer.
SLOW = timedelta(seconds=60)
LATE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class HomeVerdict:
    """The headline, and the problems that were found.

    `partly` is true if important data is missing because the database did not answer in time.
    """

    headline: str
    problems: Sequence[HomeProblem]
    partly: bool = False


def verdict(kept: Facts, now: datetime, added: Iterable[HomeProblem] = ()) -> HomeVerdict:
    """Return the headline, and the problems that need attention now.

    `added` are the problems that the blocks of plugins found.
    """
    problems = [*_failures(kept, now), *added, *_sections(kept), *_stuck(kept, now)]
    partly = any(kept[name] is None for name in ("groups", "open", "queues", "approvals"))
    if problems:
        headline = ngettext("{number} item needs attention", "{number} items need attention",
                            len(problems)).format(number=len(problems))  # fmt: skip
    elif partly:
        headline = gettext("Some data is not available: the database did not answer in time")
    else:
        headline = _without_problems(kept)
    return HomeVerdict(headline, problems, partly)


def _without_problems(kept: Facts) -> str:
    live = _live(kept)
    if not live:
        return gettext("No worker is live")
    workers = ngettext("{number} worker is live", "{number} workers are live", live)
    return gettext("Nothing needs attention: {workers}, and no queue is slow").format(
        workers=workers.format(number=live)
    )


def _live(kept: Facts) -> int:
    return sum(worker.is_live(kept["at"]) for worker in kept["workers"] or [])


def _failures(kept: Facts, now: datetime) -> Iterator[HomeProblem]:
    new = [
        group
        for group in kept["groups"] or []
        if not group.earlier and group.status in StatusFilter.groups["open"]
    ]
    if new:
        text = ngettext(
            "{number} new failure group in the last 24 hours",
            "{number} new failure groups in the last 24 hours",
            len(new),
        )
        address = links.listing("dlq_failuregroup", status="open")
        yield HomeProblem(text.format(number=len(new)), "fiber_new", address)
    if kept["open"]:
        text = ngettext("{number} open dead letter", "{number} open dead letters", kept["open"])
        address = links.listing("dlq_deadletterentry", resolution="open")
        yield HomeProblem(text.format(number=_number(kept["open"])), "inbox", address,
                      _oldest(kept["oldest"], now))  # fmt: skip


def _sections(kept: Facts) -> Iterator[HomeProblem]:
    for name, section in SECTIONS.items():
        found = kept["plugged"][name]
        if section.problem is not None and found:
            yield section.problem(len(section.rows(found)))


def _stuck(kept: Facts, now: datetime) -> Iterator[HomeProblem]:
    for queue in kept["queues"] or []:
        if not queue.workers and queue.oldest is None and _live(kept):
            # Other cases have a banner: queues with work but without workers, and installations
            # without workers.
            text = gettext("Queue {name} has no live worker").format(name=queue.name)
            yield HomeProblem(text, "person_off", links.listing("runners_runner"))
        if queue.workers and queue.oldest and now - queue.oldest > SLOW:
            text = ngettext("Queue {name} is slow: {number} step waits for a worker",
                            "Queue {name} is slow: {number} steps wait for a worker",
                            queue.waiting)  # fmt: skip
            number = f"{queue.waiting:,}{'+' if queue.capped else ''}"
            yield HomeProblem(
                text.format(name=queue.name, number=number), "hourglass_empty",
                addresses.admin("runners_run_blocked"),
                _oldest(queue.oldest, now),
            )  # fmt: skip
    for state, fact, icon, texts in (
        ("pending", "waiting", "hourglass_empty", _waiting(kept["waiting"] or 0)),
        ("paused", "paused", "pause_circle", _paused(kept["paused"] or 0)),
    ):
        if kept[fact]:
            address = links.listing("executions_workflowexecution", state=state)
            oldest = kept["first_waiting"] if state == "pending" else None
            yield HomeProblem(texts.format(number=_number(kept[fact])), icon, address,
                          _oldest(oldest, now))  # fmt: skip
    if kept["approvals"]:
        text = ngettext("{number} approval waits for a decision",
                        "{number} approvals wait for a decision", kept["approvals"])  # fmt: skip
        yield HomeProblem(text.format(number=_number(kept["approvals"])), "how_to_reg",
                      links.listing("runners_approval"))  # fmt: skip
    for trigger in kept["schedules"] or []:
        if trigger.next_at and now - trigger.next_at > LATE:
            text = gettext("The schedule of {workflow} is late").format(workflow=trigger.workflow)
            address = links.page("executions_trigger", trigger.pk)
            late = gettext("for {span}").format(span=marks.span(now - trigger.next_at))
            yield HomeProblem(text, "alarm", address, late)


def _waiting(number: int) -> str:
    return ngettext("{number} execution waits for a slot of its workspace",
                    "{number} executions wait for a slot of their workspace", number)  # fmt: skip


def _paused(number: int) -> str:
    return ngettext("{number} execution is paused", "{number} executions are paused", number)


def _number(count: int) -> str:
    return f"{count:,}+" if count >= BOUND else f"{count:,}"


def _oldest(since: datetime | None, now: datetime) -> str:
    if since is None:
        return ""
    return gettext("oldest: {span}").format(span=marks.span(now - since))
