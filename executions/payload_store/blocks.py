"""Read items of a stored list, block by block, without loading the whole list.

The reference to the list has the list's length and, for each block of consecutive items, the number
of items, and the size and the digest of their JSON. A block is checked when it is read.
"""

import json
from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Any
from uuid import UUID

from executions import payloads
from executions.configuration import settings as valkyr_settings
from executions.payload_store import reading
from executions.payload_store.errors import StoredValueBroken
from executions.payloads import STORED, StoredReference, is_reference, trusted

LENGTH, BLOCKS = "length", "blocks"
# Minimum bytes of JSON in a block other than the last, and approximate maximum number of blocks.
SMALLEST, MOST = 256 * 1024, 64
BROKEN = "A part of the stored list {} differs from its digest. Restore the list from a backup."

Block = tuple[int, int, str]  # the number of items, the bytes of their JSON, the digest


def with_blocks(reference: StoredReference, items: list[Any]) -> StoredReference:
    """Return the reference to a stored list with the facts that `items_at` needs."""
    smallest = max(SMALLEST, reference["bytes"] // MOST)
    found = [list(block) for block in _blocks(items, smallest)]
    return StoredReference({**reference, LENGTH: len(items), BLOCKS: found})


def length_of(items: Any) -> int:
    """Return the number of items in a list, or in a stored list; 0 for None."""
    return int(items[LENGTH]) if is_reference(items) else len(items or ())


def block_around(reference: dict[str, Any], index: int) -> range:
    """Return the indexes in the block that contains item `index`; an empty range if none does."""
    first = 0
    for count, *_ in reference[BLOCKS]:
        if index < first + count:
            return range(first, first + count)
        first += count
    return range(0)


def items_at(
    workspace_id: UUID, reference: dict[str, Any], indexes: Collection[int]
) -> dict[int, Any]:
    """Return items of a stored list, by index; references in them are not loaded.

    Omits later items once the needed blocks exceed the limit. Call it outside any transaction.
    Raises StoredValueTooLarge if the first needed block does, and the errors of `part_of`.
    """
    found: dict[int, Any] = {}
    first, start, size = 0, 1, 0  # `start` is after the list's bracket
    most = max(valkyr_settings().payload_load_limit, payloads.MAX_BYTES)  # a row may have as much
    for count, length, digest in reference[BLOCKS]:
        wanted = [index for index in indexes if first <= index < first + count]
        if wanted:
            size += length
            if found and size > most:
                break
            reading.check_size(length, most)
            items = _read(workspace_id, reference, start, length, digest)
            found |= {index: items[index - first] for index in wanted}
        first, start = first + count, start + length + 1  # a comma follows
    return found


def _read(
    workspace_id: UUID, reference: dict[str, Any], start: int, length: int, digest: str
) -> list[Any]:
    text = reading.part_of(workspace_id, reference, start, length)
    if sha256(text).hexdigest() != digest:
        raise StoredValueBroken(BROKEN.format(reference[STORED]))
    items: list[Any] = json.loads(b"[" + text + b"]")
    return trusted(items) if STORED.encode() in text else items


def _blocks(items: list[Any], smallest: int) -> Iterator[Block]:
    count, size, made = 0, 0, sha256()
    for item in items:
        if size >= smallest:
            yield count, size, made.hexdigest()
            count, size, made = 0, 0, sha256()
        if count:
            made.update(b",")
            size += 1
        for piece in payloads.pieces(item):
            made.update(piece)
            size += len(piece)
        count += 1
    if count:
        yield count, size, made.hexdigest()
