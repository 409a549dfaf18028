"""Something asks for an execution: API, CRON, a person."""
