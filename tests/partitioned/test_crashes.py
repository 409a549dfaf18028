"""The tests of `tests/concurrency/test_crashes.py`, with partitions."""

from tests.concurrency.test_crashes import *  # noqa: F403
