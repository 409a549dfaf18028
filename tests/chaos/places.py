"""Faults whose servers keep their data in a special folder: a world of its own for each.

By slug, a context manager that gives the folder. Read before Django is set up: import no models.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.chaos.servers.disk import small_disk

PLACES: dict[str, Callable[[], AbstractContextManager[Path]]] = {"disk-full": small_disk}
