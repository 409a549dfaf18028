"""The hash chain over the audit trail: the byte formats of rows, links and heads.

This module does no I/O. A *leaf* is the SHA-256 of a row's content
(executions/sql/parts/activity_content.sql). A *link* covers a list of leaves and the link before
it. The *head* is the newest link's number and digest. An exported head lets `verifying` detect
later changes to the rows that the chain then covered.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

FORMAT = "valkyr-audit-1"
BEGINNING = bytes(32)  # the previous link's digest in the first link
ID, LEAF = 16, 32
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HEAD = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The number and the digest of the newest link at some time; its text is `number:digest`."""

    number: int
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> "ChainHead":
        """Return the head that a text describes. Raises ValueError."""
        match = HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise ValueError(
                f"{text[:100]!r} is not a head of the audit trail. Expected a number, a colon and "
                "64 hexadecimal digits, as manage.py audit_head prints."
            )
        return cls(int(match[1]), bytes.fromhex(match[2]))

    def __str__(self) -> str:
        return f"{self.number}:{self.digest.hex()}"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The content of a link; the digest covers all of it."""

    number: int
    previous: bytes
    sealed_at: datetime
    since: datetime
    last_transaction: int
    last_row: UUID
    leaves: bytes

    @property
    def count(self) -> int:
        """Return the number of rows that the link covers."""
        return len(self.leaves) // (ID + LEAF)

    def digest(self) -> bytes:
        """Return the SHA-256 of the link's parts, one per line."""
        parts = (
            FORMAT,
            self.number,
            self.previous.hex(),
            _microseconds(self.sealed_at),
            _microseconds(self.since),
            self.last_transaction,
            self.last_row,
            self.count,
            hashlib.sha256(self.leaves).hexdigest(),
        )
        return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()


def leaf(content: str) -> bytes:
    """Return the leaf (digest) of a row with this content."""
    return hashlib.sha256(content.encode()).digest()


def split(leaves: bytes) -> Iterator[tuple[UUID, bytes]]:
    """Yield the rows' IDs with their leaves. Raises ValueError for bytes of a wrong length."""
    if len(leaves) % (ID + LEAF):
        raise ValueError(f"{len(leaves)} bytes are not a list of ids and leaves")
    for at in range(0, len(leaves), ID + LEAF):
        yield UUID(bytes=leaves[at : at + ID]), leaves[at + ID : at + ID + LEAF]


def joined(rows: Sequence[tuple[UUID, bytes]]) -> bytes:
    """Return IDs and leaves as the bytes that `split` reads."""
    return b"".join(pk.bytes + one for pk, one in rows)


def _microseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)
