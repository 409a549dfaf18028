"""Sealing: a duty adds links for new rows to the hash chain over the audit trail.

Writing a row does not wait: the duty seals the row later, usually within 30 s. Links follow the
order of transaction numbers, and stop before the oldest open transaction, so that no row has to be
inserted before a sealed row. An advisory lock ensures that only one process seals at a time.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from executions.audit.chain import BEGINNING, EPOCH, ChainHead, ChainLink
from executions.database import statements, transaction
from executions.database.advisory_locks import AdvisoryLock
from executions.models import AuditSeal

# Logs the audit trail's head at INFO, regardless of VALKYR_LOG_LEVEL.
log = logging.getLogger("valkyr.audit")
ROWS, LINKS = 1_000, 200
LAST_ID = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class SealingResult:
    """The numbers of links and rows that were added to the chain, and the new head, if any."""

    links: int
    rows: int
    head: ChainHead | None


def seal() -> SealingResult:
    """Seal the rows of transactions older than every open transaction, in at most 200 links.

    Returns the result, and logs the new head if there is one.
    """
    made: list[ChainLink] = []
    while len(made) < LINKS:
        link = _next()
        if link is None:
            break
        made.append(link)
        if link.count < ROWS:
            break
    return _told(made)


def seal_after_restore() -> SealingResult:
    """Adopt the server's new transaction numbers with a link that covers unsealed rows, if any.

    Returns the result, with 0 links if nothing was sealed before or another process is sealing.
    """
    with transaction.atomic():
        last = newest() if _is_alone() else None
        return _told([_rejoin(last)] if last is not None else [])


def head() -> ChainHead | None:
    """Return the number and digest of the newest link; None if there are no links."""
    last = newest()
    return None if last is None else ChainHead(last.number, bytes(last.digest))


def newest() -> AuditSeal | None:
    """Return the newest link without its leaves; None if there are no links."""
    return AuditSeal.objects.order_by("-number").defer("leaves").first()


def progress() -> tuple[int, datetime | None]:
    """Return the number of links, and the time of the first unsealed row, if any."""
    row = statements.fetch_one("sealing_progress", {})
    assert row is not None
    return row[0] or 0, row[1]


def _next() -> ChainLink | None:
    """Store and return the next link; None if no row is ready or another process is sealing."""
    with transaction.atomic():
        if not _is_alone():
            return None
        last = newest()
        since = EPOCH if last is None else last.since
        row = statements.fetch_one(
            "rows_to_seal",
            {
                "transaction": 0 if last is None else last.last_transaction,
                "row": UUID(int=0) if last is None else last.last_row,
                "since": since,
                "most": ROWS,
            },
        )
        assert row is not None
        count, leaves, highest, now, still_open = row
        if last is not None and still_open <= last.last_transaction:
            log.warning(
                "The server's transaction numbers restarted, as after a restore: %d is open, "
                "%d is sealed. Sealing continues from here.", still_open, last.last_transaction,
            )  # fmt: skip
            return _rejoin(last)
        if not count:
            return None
        return _stored(
            ChainLink(
                number=1 if last is None else last.number + 1,
                previous=BEGINNING if last is None else bytes(last.digest),
                sealed_at=now,
                since=since,
                last_transaction=highest,
                last_row=UUID(bytes=bytes(leaves)[-48:-32]),
                leaves=bytes(leaves),
            )
        )


def _rejoin(last: AuditSeal) -> ChainLink:
    known = {"transaction": last.last_transaction, "sealed": last.sealed_at}
    row = statements.fetch_one("rows_to_seal_after_restore", known)
    assert row is not None
    _, leaves, youngest, now, still_open = row
    return _stored(
        ChainLink(
            number=last.number + 1,
            previous=bytes(last.digest),
            sealed_at=now,
            since=max(last.sealed_at, youngest or last.sealed_at),
            last_transaction=still_open - 1,
            last_row=LAST_ID,
            leaves=bytes(leaves or b""),
        )
    )


def _is_alone() -> bool:
    row = statements.fetch_one("try_advisory_lock", {"number": AdvisoryLock.AUDIT_SEALING})
    return bool(row and row[0])


def _stored(link: ChainLink) -> ChainLink:
    AuditSeal.objects.create(
        number=link.number,
        previous=link.previous,
        digest=link.digest(),
        count=link.count,
        leaves=link.leaves,
        last_transaction=link.last_transaction,
        last_row=link.last_row,
        since=link.since,
        sealed_at=link.sealed_at,
    )
    return link


def _told(made: list[ChainLink]) -> SealingResult:
    if not made:
        return SealingResult(0, 0, None)
    last = ChainHead(made[-1].number, made[-1].digest())
    log.info("audit head %s", last)
    return SealingResult(len(made), sum(link.count for link in made), last)
