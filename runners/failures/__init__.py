"""Failures: their classes, their retries, their tracebacks."""
