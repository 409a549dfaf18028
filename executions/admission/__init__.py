"""Admission of executions: capacity, concurrency keys, request rates; and what an end frees."""
