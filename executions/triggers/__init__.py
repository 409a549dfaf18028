"""Triggers, which start executions: API, CRON, webhook, event, queue, user."""
