"""The tests of `tests/concurrency/test_statement_guards.py`, with partitions."""

from tests.concurrency.test_statement_guards import *  # noqa: F403
