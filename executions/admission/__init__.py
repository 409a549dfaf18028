"""Admission of executions: capacity, concurrency keys and request rates.

It also handles the slots that ended executions release.
"""
