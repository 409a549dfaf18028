"""Admission of executions: capacity, concurrency keys, request rates.

It also handles the slots that ended executions release.
"""
