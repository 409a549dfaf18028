"""The audit trail that `executions.actor` writes: what rows say, who reads them, how they leave."""
