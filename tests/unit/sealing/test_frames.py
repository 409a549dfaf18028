"""The file of a sealed value: its frames open only in this file, in their order, and all of
them.
"""

import tracemalloc
from io import BufferedReader, BytesIO
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executions.database import alias
from executions.sealing import SealBroken, frames, payload_keys
from executions.sealing.frames import FRAME, HEADER, OVERHEAD, SealedFile
from executions.sealing.installation_key import aes_gcm
from executions.sealing.payload_keys import OpenedKey

WORKSPACE, OTHER = uuid4(), uuid4()
KEY, OTHER_KEY, FOREIGN_KEY = 1, 2, 3
NAME = "workspace/ab/abc"
WHOLE = HEADER.size, FRAME + OVERHEAD


@pytest.fixture(autouse=True)
def keys():
    """Provide two keys of a workspace and one of another, as if they had been read from the
    database.
    """
    payload_keys.forget()
    for key, workspace in ((KEY, WORKSPACE), (OTHER_KEY, WORKSPACE), (FOREIGN_KEY, OTHER)):
        material = bytes([key]) * 32
        payload_keys._Opened.keys[alias(), key] = OpenedKey(workspace, aes_gcm(material), material)
    yield
    payload_keys.forget()


def content_of(size: int) -> bytes:
    return (b"0123456789abcdef" * (size // 16 + 1))[:size]


def sealed(content: bytes, name: str = NAME, key: int = KEY) -> bytes:
    return b"".join(frames.seal([content], name, key))


def opened(
    data: bytes, size: int, *, name: str = NAME, key: int = KEY, workspace: UUID = WORKSPACE
) -> BufferedReader:
    return BufferedReader(SealedFile(BytesIO(data), name, key, workspace, size))


def frame(data: bytes, number: int) -> bytes:
    begin, length = WHOLE
    return data[begin + number * length : begin + (number + 1) * length]


SIZES = [0, 1, FRAME - 1, FRAME, FRAME + 1, 3 * FRAME]


@pytest.mark.parametrize("size", SIZES)
def test_a_sealed_content_is_read_back(size):
    content = content_of(size)
    data = sealed(content)

    assert opened(data, size).read() == content


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=700_000), max_size=6), st.data())
def test_any_range_of_any_parts_is_read(parts, data):
    content = b"".join(parts)
    file = opened(b"".join(frames.seal(parts, NAME, KEY)), len(content))
    start = data.draw(st.integers(0, len(content)))
    length = data.draw(st.integers(0, len(content)))

    file.seek(start)

    assert file.read(length) == content[start : start + length]


@pytest.mark.parametrize("size", [5, FRAME, FRAME + 5, 3 * FRAME])
@pytest.mark.parametrize("missing", [1, OVERHEAD + 1, FRAME + OVERHEAD])
def test_a_truncated_file_does_not_open(size, missing):
    data = sealed(content_of(size))

    with pytest.raises(SealBroken, match=r"cut off|was changed"):
        opened(data[:-missing], size).read()


def test_a_file_that_ends_after_a_whole_frame_does_not_open_with_that_frames_size():
    data = sealed(content_of(2 * FRAME))
    shorter = data[: HEADER.size + FRAME + OVERHEAD]

    with pytest.raises(SealBroken, match="cut off"):
        opened(shorter, FRAME).read()


def test_a_longer_file_does_not_open():
    with pytest.raises(SealBroken):
        opened(sealed(content_of(5)) + b"x", 5).read()


def test_reordered_frames_do_not_open():
    data = sealed(content_of(3 * FRAME))
    moved = data[: HEADER.size] + frame(data, 1) + frame(data, 0) + frame(data, 2)

    with pytest.raises(SealBroken, match="frame 0"):
        opened(moved, 3 * FRAME).read()


def test_a_repeated_frame_does_not_open():
    data = sealed(content_of(3 * FRAME))
    repeated = data[: HEADER.size] + frame(data, 0) + frame(data, 0) + frame(data, 2)

    file = opened(repeated, 3 * FRAME)
    file.seek(FRAME)
    with pytest.raises(SealBroken, match="frame 1"):
        file.read(1)


def test_a_frame_of_another_file_with_the_same_name_does_not_open():
    content = content_of(2 * FRAME)
    one, other = sealed(content), sealed(content)
    swapped = one[: HEADER.size] + frame(one, 0) + frame(other, 1)

    with pytest.raises(SealBroken, match="frame 1"):
        opened(swapped, 2 * FRAME).read()


@pytest.mark.parametrize("position", [0, 7, 10, HEADER.size - 1, HEADER.size, HEADER.size + 40, -1])
def test_a_changed_byte_does_not_open(position):
    data = bytearray(sealed(content_of(100)))
    data[position] ^= 1

    with pytest.raises(SealBroken):
        opened(bytes(data), 100).read()


@pytest.mark.parametrize(
    "more",
    [{"name": "workspace/ab/other"}, {"key": OTHER_KEY}, {"key": FOREIGN_KEY},
     {"key": FOREIGN_KEY, "workspace": OTHER}, {"workspace": OTHER}],
)  # fmt: skip
def test_another_name_key_or_workspace_does_not_open_a_file(more):
    with pytest.raises(SealBroken):
        opened(sealed(content_of(100)), 100, **more).read()


def test_a_later_format_is_rejected_by_name():
    data = bytearray(sealed(b"x"))
    data[7] = 9

    with pytest.raises(SealBroken, match="has format 9"):
        opened(bytes(data), 1).read()


def test_neither_side_holds_the_content():
    count, part = 32, b"x" * FRAME

    class Sink(BytesIO):
        def write(self, data):
            return len(data)

    tracemalloc.start()
    try:
        for piece in frames.seal((part for _ in range(count)), NAME, KEY):
            Sink().write(piece)
        assert tracemalloc.get_traced_memory()[1] < 8 * FRAME
        data = sealed(part * count)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        file = opened(data, count * FRAME)
        while file.read(FRAME):
            pass
        assert tracemalloc.get_traced_memory()[1] - before < 8 * FRAME
    finally:
        tracemalloc.stop()
