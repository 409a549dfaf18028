"""Measure this engine and plain Celery canvas; run by `make bench`, never by the tests."""
