"""The tests of `tests/concurrency/test_statement_locks.py`, with partitions."""

from tests.concurrency.test_statement_locks import *  # noqa: F403
