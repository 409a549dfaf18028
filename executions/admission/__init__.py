"""Admission of executions: capacity, concurrency keys and request rates.

This package also handles the slots that ended executions release.
"""
