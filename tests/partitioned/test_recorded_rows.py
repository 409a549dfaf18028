"""The tests of `tests/concurrency/test_recorded_rows.py`, with partitions."""

from tests.concurrency.test_recorded_rows import *  # noqa: F403
