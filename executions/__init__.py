"""Workflow definitions and executions: admission, planning, end; rows are the source of truth."""
