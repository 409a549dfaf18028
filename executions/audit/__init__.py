"""The audit trail: its rows, their readers, their export. `executions.access.actor` writes it."""
