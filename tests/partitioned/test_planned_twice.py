"""The tests of `tests/concurrency/test_planned_twice.py`, with partitions."""

from tests.concurrency.test_planned_twice import *  # noqa: F403
