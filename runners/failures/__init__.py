"""Failures: their classes, their retries and their tracebacks."""
