"""Triggers, which start executions: API, CRON, webhook, event, queue and user."""
