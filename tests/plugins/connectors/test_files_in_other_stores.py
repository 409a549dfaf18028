"""A file in a store that fsspec opens is complete or unchanged, even if its source breaks."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

import fsspec
import pytest

from valkyr_plugins.connectors.files.fsspec_store import OtherStore
from valkyr_plugins.connectors.files.store import PART, Facts, FileLocation


class BrokenSource(BytesIO):
    """Content whose second part cannot be read."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell():
            raise OSError("the source broke")
        return super().read(size)


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def copy(file: BinaryIO) -> Facts:
    place = FileLocation("memory", "shop/a.txt")
    return OtherStore("memory").copy(place, file, "overwrite", None)


def test_content_of_many_parts_is_copied(memory: Any) -> None:
    data = bytes(range(256)) * (PART // 100)

    assert copy(BytesIO(data)).bytes == len(data)

    assert memory.cat("/shop/a.txt") == data


def test_a_source_that_breaks_leaves_no_file(memory: Any) -> None:
    with pytest.raises(OSError, match="the source broke"):
        copy(BrokenSource(b"x" * 3 * PART))

    assert not memory.exists("/shop/a.txt")


def test_a_source_that_breaks_leaves_the_old_file(memory: Any) -> None:
    memory.pipe("/shop/a.txt", b"old")

    with pytest.raises(OSError, match="the source broke"):
        copy(BrokenSource(b"x" * 3 * PART))

    assert memory.cat("/shop/a.txt") == b"old"
