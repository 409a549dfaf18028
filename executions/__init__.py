"""Requests for executions: admitted, planned and ended, with rows as the source of truth."""
