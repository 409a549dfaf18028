"""Measure this engine beside plain Celery canvas; run by `make bench`, never by the tests."""
