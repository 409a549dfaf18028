"""Workflow definitions and executions: their admission, planning and end.

The rows in the database are the source of truth.
"""
