"""Measurements of this engine and of plain Celery canvas; `make bench` runs them, the tests never
do.
"""
