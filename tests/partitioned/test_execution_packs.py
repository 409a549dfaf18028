"""The tests of `tests/concurrency/test_execution_packs.py`, with partitions."""

from tests.concurrency.test_execution_packs import *  # noqa: F403
