"""Admission of executions: capacity, concurrency keys, request rates; release of slots."""
