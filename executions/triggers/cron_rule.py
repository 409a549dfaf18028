"""What a CRON trigger's settings say, read once: when, how catching up, how overlapping."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from executions.triggers.cron_times import Schedule

SKIP, QUEUE, CANCEL_PREVIOUS = "skip", "queue", "cancelPrevious"


@dataclass(frozen=True, slots=True)
class CronRule:
    """A CRON trigger as published; `overlap` is skip, queue, cancelPrevious or allow."""

    schedule: Schedule
    overlap: str
    catch_up: str
    catch_up_limit: int
    jitter_seconds: int


def rule(settings: Mapping[str, Any]) -> CronRule:
    """The rule that a trigger's resolved settings describe."""
    return CronRule(
        schedule=Schedule(
            settings["schedule"],
            ZoneInfo(settings["timezone"]),
            _instant(settings["startAt"]),
            _instant(settings["endAt"]),
        ),
        overlap=settings["overlap"],
        catch_up=settings["catchUp"],
        catch_up_limit=settings["catchUpLimit"],
        jitter_seconds=settings["jitterSeconds"],
    )


def delay(trigger_id: UUID, fire_at: datetime, seconds: int) -> timedelta:
    """How late a time starts: from 0 to `seconds`, always the same for this trigger and time."""
    drawn = int.from_bytes(sha256(f"{trigger_id} {fire_at.isoformat()}".encode()).digest()[:8])
    return timedelta(seconds=round(seconds * drawn / 2**64))


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
