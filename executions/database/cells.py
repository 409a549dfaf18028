"""Find the cell of a row by its ID.

IDs that are made in a cell are UUIDs of version 8, which hold the cell's number; those of the first
database are UUIDs of version 7. `moved_workspaces` finds the rows of moved workspaces.
"""

import re
from collections.abc import Iterable
from functools import cache
from uuid import UUID
from zlib import crc32

from executions.configuration import settings as valkyr_settings
from executions.database import moved_workspaces, routing

# Of an ID's 62 random bits, the cell's number uses the first 16.
BITS, REST = 16, 46
OF_FIRST, OF_CELL = 7, 8
IN_TEXT = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


@cache
def number_of(cell: str) -> int:
    """Return a cell's number, which depends on its name alone."""
    return crc32(cell.encode()) & ((1 << BITS) - 1)


def alias_of_id(pk: UUID) -> str:
    """Return the alias of the database that has the row of an ID; "" if the ID names no known cell.

    This is the database in which the ID was made, unless its workspace was moved.
    """
    return moved_workspaces.place_of(pk, home_of_id(pk))


def home_of_id(pk: UUID) -> str:
    """Return the alias of the database in which an ID was made; "" if it names no known cell."""
    if pk.version == OF_FIRST:
        return routing.first()
    if pk.version != OF_CELL:
        return ""
    cell = _by_number().get(pk.int >> REST & ((1 << BITS) - 1))
    return routing.alias_of(cell) if cell else ""


def turn_to_id(pk: UUID | str) -> None:
    """Use the database that has the row of an ID, for the rest of a request that named no cell.

    This is for requests whose ID is in a signed token, which the middleware cannot read.
    """
    if routing.is_undecided() and (found := alias_of_id(UUID(str(pk)))):
        routing.turn_to(found)


def alias_in(texts: Iterable[str]) -> str:
    """Return the database alias that the first suitable ID in the texts names; "" if none does."""
    for text in texts:
        for found in IN_TEXT.findall(text):
            if alias := alias_of_id(UUID(found)):
                return alias
    return ""


def _by_number() -> dict[int, str]:
    return _numbers(valkyr_settings().cells)


@cache
def _numbers(cells: tuple[str, ...]) -> dict[int, str]:
    return {number_of(cell): cell for cell in cells}
