"""What `tests/conftest.py` says of files is said of files that there are."""

from pathlib import Path

from tests.conftest import LONGEST, STARTING, TOGETHER

PROJECT = Path(__file__).parents[2]


def test_every_file_with_a_place_in_the_order_exists() -> None:
    named = {*STARTING, *LONGEST, *(name for group in TOGETHER for name in group)}

    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []
