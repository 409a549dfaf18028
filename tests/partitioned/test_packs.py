"""The tests of `tests/concurrency/test_packs.py`, with partitions."""

from tests.concurrency.test_packs import *  # noqa: F403
