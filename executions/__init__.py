"""Requests for executions: admission, planning and completion, with rows as the source of truth."""
