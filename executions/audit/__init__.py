"""The audit trail that `executions.access.actor` writes: its rows, their readers, their export."""
