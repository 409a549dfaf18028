"""Admission of executions: capacity, concurrency keys, request rates.

And the slots that ended executions free.
"""
