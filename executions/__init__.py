"""Workflow definitions and executions: their admission, planning and end.

The rows are the source of truth.
"""
