"""Claim, run, fence and record steps; Celery carries the messages."""
