"""Verify the audit trail against its hash chain, and the chain against exported heads.

Links are read in number order and rows in ID order; the two orders are nearly the same. Each row is
matched with its leaf; the few unmatched rows and leaves are kept in memory. So two scans along
primary keys verify a trail of any length in limited memory.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max

from executions.audit.chain import BEGINNING, ChainHead, ChainLink, leaf, split
from executions.database import statements
from executions.database.clock import first_id_at
from executions.models import AuditSeal

ROWS, LINKS = 2_000, 20
LAST_ID = UUID(int=2**128 - 1)
# Maximum time between a row and its link, because no transaction stays open for longer.
LATE = timedelta(hours=1)
MOST_PROBLEMS = 100
MOST_UNMET = 500_000


@dataclass
class VerificationReport:
    """The result: the numbers of compared rows and links, and the mismatches in order of discovery.

    `waiting` counts new rows without a link. `stopped` says that reading stopped early, because too
    many mismatches, or too many rows without a link, were found.
    """

    links: int = 0
    rows: int = 0
    waiting: int = 0
    head: ChainHead | None = None
    problems: list[str] = field(default_factory=list)
    stopped: bool = False


class Enough(Exception):
    """There are too many mismatches, or too many rows without a link, so reading stops."""


def verify(heads: Collection[ChainHead] = (), *, archived: int = 0) -> VerificationReport:
    """Verify the links and rows until too many mismatches are found; return the report.

    `heads` were exported earlier. Rows covered by links up to number `archived` may be missing.
    """
    walk = _Walk({head.number: head for head in heads}, archived)
    try:
        walk.links()
        walk.end()
    except Enough:
        walk.report.stopped = True
    return walk.report


class _Walk:
    """The state of one running verification."""

    def __init__(self, heads: dict[int, ChainHead], archived: int) -> None:
        self.report = VerificationReport()
        self._heads, self._archived = heads, archived
        self._sealed_at: datetime | None = None  # of the previous link
        # Leaves (with their link) and rows for which no matching row or leaf has been read yet.
        self._leaves: dict[UUID, tuple[bytes, int, datetime | None]] = {}
        self._rows: dict[UUID, tuple[bytes, datetime]] = {}
        self._at = UUID(int=0)

    def links(self) -> None:
        """Verify the links in their order, and the rows that each link covers."""
        expected, previous = 1, BEGINNING
        for seal in _seals():
            if seal.number != expected:
                self._found(f"{_missing(expected, seal.number)}: seal {seal.number} comes next.")
            elif bytes(seal.previous) != previous:
                self._found(f"Seal {seal.number} does not follow seal {seal.number - 1}.")
            link = _link(seal)
            if seal.count != link.count or bytes(seal.digest) != link.digest():
                self._found(
                    f"Seal {seal.number} was changed: its digest does not match its content."
                )
            self._compare(ChainHead(seal.number, bytes(seal.digest)))
            self._meet_leaves(link)
            self._read_rows(first_id_at(link.sealed_at))
            self._tell_gone(self._at)
            self._sealed_at = link.sealed_at
            expected, previous = seal.number + 1, bytes(seal.digest)
            self.report.links += 1

    def end(self) -> None:
        """Read the remaining rows; report missing links and rows, and old rows without a link."""
        for head in sorted(self._heads.values(), key=lambda one: one.number):
            newest = self.report.head
            if newest is None or head.number > newest.number:
                told = f"the newest is {newest.number}" if newest else "there is none"
                self._found(f"The end is missing: seal {head.number} was exported, but {told}.")
        self._read_rows(LAST_ID)
        self._tell_gone(LAST_ID)
        for pk, (_, made) in sorted(self._rows.items()):
            if self._sealed_at is None or made >= self._sealed_at - LATE:
                self.report.waiting += 1
            else:
                self._found(
                    f"Row {pk} of {made.isoformat()} has no seal, but later rows have one: it "
                    "was inserted later, or its seal was removed."
                )

    def _compare(self, head: ChainHead) -> None:
        self.report.head = head
        exported = self._heads.get(head.number)
        if exported is not None and exported != head:
            self._found(
                f"Seal {head.number} is not the exported one: found {head}, expected {exported}."
            )

    def _meet_leaves(self, link: ChainLink) -> None:
        try:
            leaves = list(split(link.leaves))
        except ValueError as error:
            self._found(f"Seal {link.number} cannot be read: {error}.")
            return
        for pk, one in leaves:
            row = self._rows.pop(pk, None)
            if row is None:
                self._leaves[pk] = one, link.number, self._sealed_at
            else:
                self._meet(pk, (one, link.number, self._sealed_at), row)

    def _read_rows(self, until: UUID) -> None:
        while self._at < until:
            found = statements.fetch(
                "content_of_activity", {"after": self._at, "until": until, "most": ROWS}
            )
            for pk, made, content in found:
                row = leaf(content), made
                sealed = self._leaves.pop(pk, None)
                if sealed is None:
                    self._rows[pk] = row
                else:
                    self._meet(pk, sealed, row)
            self._at = found[-1][0] if len(found) == ROWS else until
            if len(self._rows) > MOST_UNMET:
                self._found(
                    f"More than {MOST_UNMET:,} rows have no seal. Check that the duty runs."
                )
                raise Enough

    def _meet(
        self, pk: UUID, sealed: tuple[bytes, int, datetime | None], row: tuple[bytes, datetime]
    ) -> None:
        self.report.rows += 1
        (one, number, before), (found, made) = sealed, row
        if one != found:
            self._found(f"Row {pk} of {made.isoformat()} was changed after seal {number}.")
        elif before is not None and made < before - LATE:
            self._found(
                f"Row {pk} has the time {made.isoformat()}, but was written after seal "
                f"{number - 1} of {before.isoformat()}: it was inserted later."
            )

    def _tell_gone(self, until: UUID) -> None:
        """Report leaves whose rows are missing, after all rows up to this ID were read."""
        for pk in [pk for pk in self._leaves if pk <= until]:
            _, number, _ = self._leaves.pop(pk)
            if number > self._archived:
                self._found(f"Row {pk}, which seal {number} covers, is missing.")

    def _found(self, problem: str) -> None:
        self.report.problems.append(problem)
        if len(self.report.problems) >= MOST_PROBLEMS:
            raise Enough


def _seals() -> Iterator[AuditSeal]:
    """Yield the seals that exist now, in the order of their numbers.

    Later seals are left out, because the scan may have passed the IDs of their rows already.
    """
    newest = AuditSeal.objects.aggregate(number=Max("number"))["number"] or 0
    rows, after = AuditSeal.objects.filter(number__lte=newest), 0
    while found := list(rows.filter(number__gt=after).order_by("number")[:LINKS]):
        yield from found
        after = found[-1].number


def _link(seal: AuditSeal) -> ChainLink:
    return ChainLink(
        number=seal.number,
        previous=bytes(seal.previous),
        sealed_at=seal.sealed_at,
        since=seal.since,
        last_transaction=seal.last_transaction,
        last_row=seal.last_row,
        leaves=bytes(seal.leaves),
    )


def _missing(first: int, after: int) -> str:
    last = after - 1
    return f"Seal {first} is missing" if first == last else f"Seals {first} to {last} are missing"
