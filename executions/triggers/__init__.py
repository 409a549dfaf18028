"""Triggers, which start executions: API, CRON, a person."""
