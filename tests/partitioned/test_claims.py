"""The tests of `tests/concurrency/test_claims.py`, with partitions."""

from tests.concurrency.test_claims import *  # noqa: F403
